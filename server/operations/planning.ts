import type { ErrorCode } from "@/server/platform/errors/errors";

/** Errors of planning a request, before anything is written, in addition to an unknown capability. */
export const PLANNING: ErrorCode[] = [
  "UNKNOWN_INPUT_FIELD",
  "UNKNOWN_EXECUTION_FIELD",
  "CONFLICTING_EXECUTION_CONSTRAINT",
  "PromptTooLong",
  "CONNECTION_REQUIRED",
  "ROUTE_UNAVAILABLE",
  "EstimateUnavailable",
  "ESTIMATE_MISMATCH",
  "BudgetExceeded",
  "PROJECT_REQUIRED",
  "InvalidInput",
  "PolicyRejected",
];
