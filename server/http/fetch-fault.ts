/** Why nothing was fetched; each with words for whoever named the address. */
const REASONS = {
  not_a_url: "This is not a valid URL.",
  scheme: "The address must start with https.",
  user_name: "The address must not carry a user name or password.",
  port: "The address must not name a port.",
  host: "This host is not one that files are fetched from.",
  address: "The host's address is private, and private addresses are not allowed.",
  unresolved: "The host name could not be resolved.",
  redirects: "The server redirects too often.",
  location: "The server redirects to an address that cannot be read.",
  unreachable: "No connection to the server could be made.",
  timeout: "The server did not answer in time.",
  lost: "The connection was lost before the answer was whole.",
  headers: "The headers of the answer are too large.",
  too_large: "The answer is larger than allowed.",
  encoding: "The answer is compressed, though it was asked not to be.",
  range: "The server does not serve the part that was asked for.",
} as const;

export type FetchReason = keyof typeof REASONS;

/** Of what may pass by itself; everything else is a no for good. */
const PASSING: ReadonlySet<FetchReason> = new Set(["unresolved", "unreachable", "timeout", "lost"]);

/** The one error of fetches. `message` is ours alone and safe to show. */
export class FetchFault extends Error {
  override readonly name = "FetchFault";
  /** May the same fetch succeed later? */
  readonly isPassing: boolean;
  constructor(
    readonly reason: FetchReason,
    /** At which hop: 0 is the address that was asked for. */
    readonly hop = 0,
  ) {
    super(REASONS[reason]);
    this.isPassing = PASSING.has(reason);
  }
}
