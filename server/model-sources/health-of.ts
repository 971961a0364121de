import { FetchFault } from "@/server/platform/http";
import { SourceFault, type SourceHealth } from "./define";

/** The health of a source whose check failed. Rethrows errors that are not about the source. */
export function sourceHealth(cause: unknown): SourceHealth {
  if (cause instanceof FetchFault) return { status: "unknown", detail: cause.message };
  if (!(cause instanceof SourceFault)) throw cause;
  const { reason, message } = cause;
  const status = reason === "not_found" ? "missing" : reason === "unavailable" ? "unknown" : "degraded";
  return { status, detail: message };
}
