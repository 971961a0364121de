import { Fault, ValidationFault } from "@/server/platform/errors/errors";

export const input = { messages: [{ role: "user", content: "Hello" }] };

/** Returns the main members of the error that the normalization throws. Throws if there is none. */
export function refusal(work: () => unknown): Record<string, unknown> {
  try {
    work();
  } catch (cause) {
    if (cause instanceof Fault) return { code: cause.code, ...cause.details };
    if (cause instanceof ValidationFault) {
      const [issue] = cause.issues;
      return { at: issue?.loc.join("."), type: issue?.type };
    }
    throw cause;
  }
  throw new Error("nothing was refused");
}
