import { CapabilityFault, InputFault } from "@/server/capabilities/define";
import { type ErrorCode, Fault, isErrorCode, ValidationFault } from "@/server/platform/errors/errors";

/** Runs a pure function of a capability and turns its refusals into faults. */
export function withFaults<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw toRequestFault(cause);
  }
}

/**
 * Turns a capability's refusal into a fault, or into a 422 at its field. Returns any other error unchanged.
 */
export function toRequestFault(cause: unknown): unknown {
  if (cause instanceof CapabilityFault) return toFault(cause);
  if (cause instanceof InputFault)
    return new ValidationFault([{ loc: ["body", ...cause.field], msg: cause.message, type: "value_error" }]);
  return cause;
}

export function toFault(fault: CapabilityFault): Fault {
  const code: ErrorCode = isErrorCode(fault.code) ? fault.code : "InvalidInput";
  return new Fault(code, fault.message, fault.details);
}
