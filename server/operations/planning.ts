import type { ErrorCode } from "@/server/platform/errors/errors";

/** Errors of planning a request, besides an unknown capability. Planning writes nothing. */
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
