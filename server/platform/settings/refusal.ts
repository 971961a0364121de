/**
 * A process does not start, for a reason that its operator can mend. The message is for them: it names the setting and what
 * to do, and never a value.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** The exit code of a refused start, by which supervisors and scripts know it from a crash. */
export const REFUSED = 2;

/** Ends the process over a refusal: its sentence on stderr, no stack. Throws on anything else. */
export function exitRefused(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exit(REFUSED);
}
