/*
 * What to do after an execution failed, in the same words over HTTP, MCP, the CLI and the panel. A new idempotency key is
 * safe only if nothing ran and nothing was charged.
 */

const SAFE =
  "Nothing ran and nothing was charged: it is safe to send the request again with a new idempotency key.";

/** `canRepeat`: nothing ran and nothing was charged. `submission`: that of the last attempt, if there was one. */
export function nextStepOf(canRepeat: boolean, submission: string | null | undefined): string {
  if (canRepeat) return submission === "attempted" ? `${SAFE} Another model may accept it.` : SAFE;
  return submission === "ambiguous"
    ? "The provider may already have run this, and running it again could charge you twice. Read its record instead of sending it again."
    : "The provider worked on this and may charge for it. Fix the cause before you submit a new request, which is charged separately.";
}
