import type { Job, JobError } from "@/server/contract/jobs";
import { nextStepOf, type ProviderMessage, withSaid } from "@/server/domain/executions";
import { ERRORS, isErrorCode } from "@/server/platform/errors/errors";
import type { JobRow, LastAttempt } from "../rows";

/** Why a job failed, and what to do next; null if it has no error. */
export function toError(
  job: JobRow,
  attempt: LastAttempt | null,
  said: ProviderMessage | null,
): JobError | null {
  if (job.status === "needs_attention") {
    return {
      code: "needs_attention",
      message: `The provider's work is paid for, but a later step keeps failing${job.attention ? ` (${job.attention.step})` : ""}.`,
      retryable: false,
      terminal: true,
      resolution:
        "An operator can retry the step, accept the result as it is, or fail the job. You can also cancel it.",
    };
  }
  if (!job.error_code) return null;
  const row = isErrorCode(job.error_code) ? ERRORS[job.error_code] : undefined;
  const message = job.error?.message;
  return {
    code: job.error_code,
    message: message && message !== job.error_code ? message : `The job failed with ${job.error_code}.`,
    retryable: row?.retryable ?? false,
    terminal: row?.terminal ?? true,
    resolution: resolutionOf(job, attempt),
    ...withSaid(job.error?.details, said),
  };
}

export const resolutionOf = (
  job: Pick<JobRow, "status" | "error_code" | "actual_micros">,
  attempt: LastAttempt | null,
): string => nextStepOf(isNewKeySafe(job, attempt), attempt?.submission);

/**
 * Codes of definite rejections: the provider refused, or nothing was sent. A rejection with a charge came
 * after the work.
 */
const DEFINITE = new Set(["ProviderRejected", "ProviderUnavailable"]);

/**
 * True if nothing ran and nothing was charged: the request was never submitted, or was definitely rejected.
 */
export function isNewKeySafe(
  job: Pick<JobRow, "status" | "error_code" | "actual_micros">,
  attempt: LastAttempt | null,
): boolean {
  // A later attempt builds on an earlier one that ran.
  if (attempt && attempt.number > 1) return false;
  const isUntried = attempt === null || attempt.submission === "not_attempted";
  const isRejected = DEFINITE.has(job.error_code ?? "") && job.actual_micros === 0;
  if (job.status === "failed") return isUntried || isRejected;
  return job.status === "canceled" && isUntried;
}

/** The client's next action and poll delay, derived from the row and never stored. */
export function hintsOf(
  job: JobRow,
  attempt: LastAttempt | null,
  now: Date,
): Pick<Job, "nextAction" | "pollAfterSeconds"> {
  switch (job.status) {
    case "succeeded":
      return { nextAction: "download_artifacts", pollAfterSeconds: null };
    case "awaiting_approval":
      return { nextAction: "present_approval", pollAfterSeconds: null };
    case "needs_attention":
      return { nextAction: "inspect_error", pollAfterSeconds: null };
    case "canceled":
      return { nextAction: "stop", pollAfterSeconds: null };
    case "failed": {
      const next =
        job.error_code && isErrorCode(job.error_code) ? ERRORS[job.error_code].next : "inspect_error";
      const isKnown = next === "stop" || (next === "retry_new" && isNewKeySafe(job, attempt));
      return { nextAction: isKnown ? next : "inspect_error", pollAfterSeconds: null };
    }
    default:
      return {
        nextAction: "poll",
        pollAfterSeconds: now.getTime() - job.created_at.getTime() < 10_000 ? 1 : 4,
      };
  }
}
