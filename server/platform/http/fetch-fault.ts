import { RESOLVED_BY_PROXY } from "./failures";

/** The reasons why a fetch failed, with a message for the person who gave the URL. */
const REASONS = {
  not_a_url: "This is not a URL.",
  scheme: "The URL must start with https.",
  user_name: "The URL must not contain a user name or password.",
  port: "The URL must not contain a port.",
  host: "Files from this host are not allowed.",
  address: "The host's address is private, and private addresses are not allowed.",
  unresolved: "The host name could not be resolved.",
  unresolved_here: `The host name could not be resolved. ${RESOLVED_BY_PROXY}`,
  redirects: "The server redirects too many times.",
  location: "The server redirects to an invalid URL.",
  unreachable: "A connection to the server could not be established.",
  proxy: "The outgoing proxy (OUTGOING_PROXY) did not connect to the server.",
  timeout: "The server did not respond in time.",
  lost: "The connection was lost before the response was complete.",
  headers: "The response headers are too large.",
  too_large: "The response is larger than allowed.",
  encoding: "The server sent a compressed response, although none was requested.",
  range: "The server did not return the requested byte range.",
} as const;

export type FetchReason = keyof typeof REASONS;

/** Reasons that may be temporary; all others are permanent. */
const PASSING: ReadonlySet<FetchReason> = new Set([
  "unresolved",
  "unresolved_here",
  "unreachable",
  "proxy",
  "timeout",
  "lost",
]);

/** The only error of fetches. `message` contains no text from outside and is safe to show. */
export class FetchFault extends Error {
  override readonly name = "FetchFault";
  /** True if the same fetch may succeed later. */
  readonly isPassing: boolean;
  constructor(
    readonly reason: FetchReason,
    /** The hop at which the fetch failed: 0 is the requested URL. */
    readonly hop = 0,
  ) {
    super(REASONS[reason]);
    this.isPassing = PASSING.has(reason);
  }
}
