/** How the command `capstan` ends, and what each number means to who called it. */
export const EXIT_CODES = {
  done: 0,
  /** The work itself: the job failed or was canceled, a document is not what was sealed, a check does not hold. */
  failed: 1,
  /** The command or its input is not right; nothing ran. */
  usage: 2,
  /** No key, or one that may not do this. */
  unauthorized: 3,
  /** A person has to approve, connect an account or pay; the address is in the answer. */
  humanGate: 4,
  /** The service could not be reached, or asks to be asked again later. */
  unavailable: 5,
  /** Waiting ended before the job, which goes on. */
  waitTimeout: 6,
  interrupted: 130,
} as const;

/** In single quotes a shell changes nothing; a quote ends them, is written escaped and begins them again. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A run of a capability by the command `capstan`; the input is a file where it is named by a path. */
export const commandOf = (capability: string, input: unknown, baseUrl?: string) =>
  [
    `capstan run ${capability}`,
    `--input ${typeof input === "string" ? input : quoted(JSON.stringify(input))}`,
    ...(baseUrl ? [`--base-url ${baseUrl}`] : []),
  ].join(" ");
