import type { ErrorCode } from "@/server/errors";

/** What a request may be refused for by its plan, before anything is written. */
export const PLANNING: ErrorCode[] = [
  "UNKNOWN_CAPABILITY",
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
