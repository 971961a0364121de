import type { RawEnvelope } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";
import { readWhole } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { env } from "@/server/env";
import { Fault, isErrorCode } from "@/server/errors";
import { madeAt, receiptIdOf } from "@/server/ids";
import type { Json } from "@/server/step";

/* Durable work for clients that wait for it in one request: submitted, waited for, and read. */

const RIGHT = "capabilities:run";

/**
 * Submits a job and answers with it once it has succeeded. Its failure is thrown with its own code; JobStillRunning, naming
 * the job, when it has not ended in time or waits for a person. The job goes on in any case.
 */
export async function finished(
  ctx: Ctx,
  capabilityKey: string,
  envelope: RawEnvelope,
  idempotencyKey: string | undefined,
): Promise<Job> {
  const { jobId } = await jobs.submit(ctx, capabilityKey, envelope, idempotencyKey);
  const signal = ctx.signal?.() ?? new AbortController().signal;
  const job = await jobs.waitFor(ctx, jobId, { ms: env.JOB_WAIT_SECONDS * 1000, signal, right: RIGHT });
  const record = { executionId: jobId, receiptId: job.receiptId };
  if (job.status === "succeeded") return job;
  if (job.status === "failed" || job.status === "canceled") {
    const { code, message } = job.error ?? { code: "Cancelled", message: "The job was canceled." };
    const details = job.error?.details as Record<string, Json> | undefined; // with what the provider answered
    const said = { ...details, ...record };
    throw new Fault(isErrorCode(code) ? code : "InternalFailure", `${message} ${job.error?.resolution ?? ""}`.trim(), said);
  }
  const forWhom = WAITS[job.status];
  const why = forWhom ?? `is ${job.status} after ${env.JOB_WAIT_SECONDS} seconds`;
  const isKnownAgain = Boolean(idempotencyKey?.trim()) || ctx.unkeyed !== undefined;
  throw new Fault(
    "JobStillRunning",
    `The job ${jobId} ${why} and goes on. Read it with GET /v1/jobs/${jobId}, or send this request once more to wait for it again.`,
    { executionId: jobId, receiptId: null, status: job.status },
    // A repeat waits for the same job; a person takes longer than any client repeats.
    { "x-should-retry": String(isKnownAgain && !forWhom) },
  );
}

const WAITS: Partial<Record<Job["status"], string>> = {
  awaiting_approval: "waits for a person's approval",
  needs_attention: "waits for an operator",
};

/** What a job made, in its order. Gone where the content was removed. */
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

/** When the job was submitted, in seconds. */
export const submittedAt = ({ jobId }: Job) => Math.floor(madeAt(jobId) / 1000);

export const headersOfJob = ({ jobId }: Job) => ({
  "x-execution-id": jobId,
  "x-capstan-receipt-id": receiptIdOf(jobId),
});
