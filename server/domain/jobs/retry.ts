import type { Conversation } from "@/server/capabilities/conversation";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { settleKey } from "@/server/domain/envelope";
import { fail } from "@/server/errors";
import { admitDurable } from "./admit";
import { refuseBlind } from "./blind";
import { isNewKeySafe } from "./hints";
import { findWholeJob, type JobRow, type LastAttempt, requestContentOf } from "./rows";

/**
 * A new job from what a job was asked, under a new key, where nothing ran and nothing was charged; else RetryNotSafe.
 * One job has one retry unless the caller names keys: asking again answers with the first, so a lost answer costs nothing.
 */
export async function retry(ctx: Ctx, jobId: string, idempotencyHeader?: string): Promise<Job> {
  const { job, parts } = await findWholeJob(ctx, jobId, "capabilities:run");
  requireRetryable(job, parts.attempt);
  const snapshot = requestContentOf(job, parts.payloads);
  if (typeof snapshot !== "object" || snapshot === null || Array.isArray(snapshot))
    fail(
      "PayloadUnavailable",
      "The content of the request was removed or never stored. Submit the request again.",
    );
  const { capability: _, conversation, ...request } = snapshot;
  const idempotencyKey = settleKey(undefined, idempotencyHeader) ?? `retry-${job.id}`;
  const raw = { ...request, idempotencyKey } as RawEnvelope; // was one
  return admitDurable(ctx, getCapability(job.capability_key), raw, undefined, {
    retryOf: job.id,
    ...(conversation ? { conversation: conversation as Conversation } : {}), // was one
  });
}

/** Throws where it is not safe to run this job again, or not a job that can be. */
export function requireRetryable(job: JobRow, attempt: LastAttempt | null): void {
  refuseBlind(job, "Whether it is safe to run again");
  if (job.operation !== "jobs") {
    const invoke = `/v1/capabilities/${job.capability_key}/invoke`;
    fail("USE_INVOKE", `A synchronous execution cannot be retried as a job. Send POST ${invoke} again.`, {
      invoke,
    });
  }
  if (!isNewKeySafe(job, attempt)) {
    fail(
      "RetryNotSafe",
      "It is not safe to run this job again: it has not ended, or the provider may have run it. Read the job first.",
      {
        status: job.status,
        ...(job.error_code ? { errorCode: job.error_code } : {}),
      },
    );
  }
}
