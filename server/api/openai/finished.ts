import type { RawEnvelope } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";
import { readWhole } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import type { SentKey } from "@/server/domain/envelope";
import * as jobs from "@/server/domain/jobs";
import type { Json } from "@/server/platform/durable/step";
import { Fault, isErrorCode } from "@/server/platform/errors/errors";
import { madeAt, receiptIdOf } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";

/* Durable work for clients that wait for it in one request. */

const RIGHT = "capabilities:run";

/**
 * Submits a job and returns it once it has succeeded. Throws the job's own failure, or JobStillRunning with the job's id
 * if it has not ended in time or needs a person. The job continues in any case.
 */
export async function finished(
  ctx: Ctx,
  capabilityKey: string,
  envelope: RawEnvelope,
  idempotencyKey: SentKey | undefined,
): Promise<Job> {
  const { jobId } = await jobs.submit(ctx, capabilityKey, envelope, idempotencyKey);
  const signal = ctx.signal?.() ?? new AbortController().signal;
  const job = await jobs.waitFor(ctx, jobId, { ms: env.JOB_WAIT_SECONDS * 1000, signal, right: RIGHT });
  const record = { executionId: jobId, receiptId: job.receiptId };
  if (job.status === "succeeded") return job;
  if (job.status === "failed" || job.status === "canceled") {
    const { code, message } = job.error ?? { code: "Cancelled", message: "The job was canceled." };
    const details = job.error?.details as Record<string, Json> | undefined; // a JSON object, which may have the provider's response
    const said = { ...details, ...record };
    throw new Fault(
      isErrorCode(code) ? code : "InternalFailure",
      `${message} ${job.error?.resolution ?? ""}`.trim(),
      said,
    );
  }
  const forWhom = WAITS[job.status];
  const why = forWhom ?? `is ${job.status} after ${env.JOB_WAIT_SECONDS} seconds`;
  const isKnownAgain = Boolean(idempotencyKey?.key) || ctx.unkeyed !== undefined;
  throw new Fault(
    "JobStillRunning",
    `The job ${jobId} ${why} and continues. Read it with GET /v1/jobs/${jobId}, or repeat this request to keep waiting.`,
    { executionId: jobId, receiptId: null, status: job.status },
    // A repeat waits for the same job; a person takes longer than any client retries.
    { headers: { "x-should-retry": String(isKnownAgain && !forWhom) } },
  );
}

const WAITS: Partial<Record<Job["status"], string>> = {
  awaiting_approval: "is waiting for a person's approval",
  needs_attention: "needs an operator's attention",
};

/** A job's artifacts, in order. Throws Gone if the content was removed. */
export async function filesOf(
  ctx: Ctx,
  { jobId, artifacts }: Job,
): Promise<{ bytes: Buffer; mediaType: string }[]> {
  return Promise.all(
    artifacts.map(async ({ artifactId }) => {
      const { sha256, media_type } = await jobs.artifact(ctx, jobId, artifactId, RIGHT);
      return { bytes: Buffer.from(await readWhole(sha256)), mediaType: media_type };
    }),
  );
}

/** The time of the job's submission, in seconds. */
export const submittedAt = ({ jobId }: Job) => Math.floor(madeAt(jobId) / 1000);

export const headersOfJob = ({ jobId }: Job) => ({
  "x-execution-id": jobId,
  "x-capstan-receipt-id": receiptIdOf(jobId),
});
