/**
 * Thrown if a process must not start, for a reason that its operator can fix. The message is for the operator: it names the
 * setting and what to do, and never a value.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Exit code of a refused start, by which supervisors and scripts tell it from a crash. */
export const REFUSED = 2;

/** Ends the process over a Refusal: its sentence on stderr, no stack. Rethrows anything else. */
export function exitRefused(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exit(REFUSED);
}
