/** Exit codes of the `capstan` command. */
export const EXIT_CODES = {
  done: 0,
  /**
   * The work itself failed: a job failed or was canceled, a document differs from the sealed one, or a check did not
   * hold.
   */
  failed: 1,
  /** The command or its input is invalid, or the service refuses the request; nothing ran. */
  usage: 2,
  /** The key is missing or invalid, or lacks the permission. */
  unauthorized: 3,
  /** A person must approve, connect an account or pay; the answer has the address. */
  humanGate: 4,
  /** The service could not be reached, or asks for a later retry. */
  unavailable: 5,
  /** Waiting ended before the job did; the job continues. */
  waitTimeout: 6,
  interrupted: 130,
} as const;

/**
 * Quotes a text for a POSIX shell: inside single quotes nothing is expanded, and a quote is closed, escaped and
 * reopened.
 */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The `capstan` command that runs a capability. A string as input is the path of a file; any other value is written
 * inline.
 */
export const commandOf = (capability: string, input: unknown, baseUrl?: string) =>
  [
    `capstan run ${capability}`,
    `--input ${typeof input === "string" ? input : quoted(JSON.stringify(input))}`,
    ...(baseUrl ? [`--base-url ${baseUrl}`] : []),
  ].join(" ");
