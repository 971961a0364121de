import type { Conversation } from "@/server/capabilities/conversation";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { Job, JobRetryBody } from "@/server/contract/jobs";
import { getCapability } from "@/server/domain/catalog";
import { providerOfRoute } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { type SentKey, settleKey } from "@/server/domain/envelope";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { sha256Hex } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { refuseBlind } from "../reading/blind";
import { findWholeJob } from "../reading/get";
import { isNewKeySafe } from "../reading/hints";
import { type JobRow, type LastAttempt, requestContentOf } from "../rows";
import { admitDurable } from "./admit";

/**
 * Submits the request of a job again under a new key, on another model if one is named. Throws RetryNotSafe
 * if the job may have run or was charged, unless the caller accepts a possible duplicate charge. Without a
 * key from the caller, a job has one retry, and one more for each named model: another call returns the
 * existing one, so a lost answer costs nothing.
 */
export async function retry(
  ctx: Ctx,
  jobId: string,
  idempotencyHeader?: string | SentKey,
  { acceptPossibleDuplicateCharge, model }: JobRetryBody = {},
): Promise<Job> {
  const { job, parts } = await findWholeJob(ctx, jobId, "capabilities:run");
  requireRetryable(job, parts.attempt, acceptPossibleDuplicateCharge ?? false);
  const snapshot = requestContentOf(job, parts.payloads);
  if (!isObject(snapshot))
    fail(
      "PayloadUnavailable",
      "The content of the request was removed or never stored. Submit the request again.",
    );
  const { capability: _, conversation, ...request } = snapshot;
  const ownKey = `retry-${job.id}${model ? `-${sha256Hex(model).slice(0, 12)}` : ""}`;
  const raw: RawEnvelope = model ? onModel(request, model) : request;
  return admitDurable(ctx, getCapability(job.capability_key), raw, {
    idempotencyHeader: settleKey(undefined, idempotencyHeader) ?? ownKey,
    beside: {
      retryOf: job.id,
      ...(conversation ? { conversation: conversation as Conversation } : {}), // stored from a conversation
    },
  });
}

/**
 * Builds the request for this model, given alone or as `provider/model`, without the quote and the provider
 * pin of the former model.
 */
function onModel(request: Record<string, Json>, model: string): Record<string, Json> {
  const execution = isObject(request.execution) ? request.execution : {};
  const { quoteId: _quote, estimateId: _estimate, executionConstraints, ...rest } = execution;
  const { providerPin: _pin, ...constraints } = isObject(executionConstraints) ? executionConstraints : {};
  const provider = providerOfRoute(model.split("/", 1)[0] ?? "");
  const wanted: Record<string, Json> = provider
    ? { providerPin: provider.name, preferredModel: model.slice(provider.name.length + 1) }
    : { preferredModel: model };
  return {
    ...request,
    execution: { ...rest, executionConstraints: { ...constraints, ...wanted } },
  };
}

/**
 * Throws if this job cannot be retried or a retry is not safe. If the caller accepts a possible duplicate
 * charge, a failed or canceled job may be retried even though that is not safe.
 */
export function requireRetryable(job: JobRow, attempt: LastAttempt | null, acceptsDuplicate: boolean): void {
  refuseBlind(job, "Whether it is safe to run again");
  if (job.operation !== "jobs") {
    const invoke = `/v1/capabilities/${job.capability_key}/invoke`;
    fail("USE_INVOKE", `A synchronous execution cannot be retried as a job. Send POST ${invoke} again.`, {
      invoke,
    });
  }
  const isEnded = job.status === "failed" || job.status === "canceled";
  if (!isNewKeySafe(job, attempt) && !(isEnded && acceptsDuplicate)) {
    fail(
      "RetryNotSafe",
      isEnded
        ? "The provider may already have run this job, and running it again may be charged a second time. Read the job first. To run it again all the same, send acceptPossibleDuplicateCharge: true."
        : job.status === "succeeded"
          ? "This job succeeded, so there is nothing to retry. Submit a new job to run its request again."
          : "This job has not ended. Read it again when it has.",
      {
        status: job.status,
        ...(job.error_code ? { errorCode: job.error_code } : {}),
      },
    );
  }
}
