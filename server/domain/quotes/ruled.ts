import { CapabilityFault } from "@/server/capabilities/define";
import { type ErrorCode, Fault, isErrorCode } from "@/server/errors";

/** Runs a pure function of a capability; its refusals become rows of the error table. */
export function ruled<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof CapabilityFault) throw toFault(cause);
    throw cause;
  }
}

export function toFault(fault: CapabilityFault): Fault {
  const code: ErrorCode = isErrorCode(fault.code) ? fault.code : "InvalidInput";
  return new Fault(code, fault.message, fault.details);
}
