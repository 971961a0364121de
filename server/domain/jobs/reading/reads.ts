import type { JobResult } from "@/server/contract/jobs";
import { TERMINAL } from "@/server/contract/jobs";
import type { Receipt } from "@/server/contract/receipts";
import { artifactStore } from "@/server/domain/artifacts";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { job as jobTable } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { bareDigest } from "@/server/verify";
import {
  type ArtifactRow,
  artifactsOf,
  findJob,
  keyOf,
  payloadsOf,
  requestContentOf,
  sealedReceiptOf,
} from "../rows";
import { blindRequest, refuseBlind } from "./blind";
import { findWholeJob } from "./get";
import { toJob } from "./view";

/**
 * The canonical submitted request. If its content is not kept, `request` is null and its hash remains. A
 * blind job returns its `blindRequest`.
 */
export async function request(ctx: Ctx, jobId: string): Promise<Record<string, Json>> {
  const job = await findJob(ctx, jobId);
  if (job.is_blind) return blindRequest(job);
  const payloads = await payloadsOf(job);
  const snapshot = requestContentOf(job, payloads);
  return {
    jobId: job.id,
    capabilityKey: job.capability_key,
    idempotencyKey: keyOf(job),
    requestHash: bareDigest(job.request_hash),
    sha256: payloads.find((each) => each.kind === "request")?.sha256 ?? null,
    contentState: snapshot === null ? "pruned" : "available",
    request: snapshot,
  };
}

/** The typed output, the id of its payload and the artifacts that the job shows so far. */
export async function result(ctx: Ctx, jobId: string): Promise<JobResult> {
  const { job: row, parts } = await findWholeJob(ctx, jobId);
  const job = toJob(row, parts, ctx.now());
  const output = parts.payloads.find(({ kind }) => kind === "output");
  return {
    jobId: job.jobId,
    status: job.status,
    typedOutput: job.typedOutput,
    outputPayloadRef: output?.id ?? null,
    payloadState: output ? (output.content === null ? "pruned" : "available") : null,
    artifacts: job.artifacts,
    error: job.error,
  };
}

/**
 * The sealed receipt. Throws JobNotFinished before the job has ended, and ComparisonUnjudged while the job is
 * blind.
 */
export async function receipt(ctx: Ctx, jobId: string): Promise<Receipt> {
  const job = await findJob(ctx, jobId);
  refuseBlind(job, "The receipt");
  if (!TERMINAL.includes(job.status)) {
    fail("JobNotFinished", "The job has not ended, so its receipt is not sealed yet.", {
      status: job.status,
    });
  }
  const sealed = await sealedReceiptOf(job);
  if (!sealed) throw new Error(`job ${job.id} has ended without a receipt`);
  return sealed;
}

const findUnjudged = statement("job.find.blind_receipt", {
  params: { projectId: text, receiptIds: texts },
  row: pick(jobTable, "is_blind comparison_id"),
  sql: `SELECT is_blind, comparison_id FROM job
    WHERE project_id = $projectId AND is_blind AND receipt_id = ANY($receiptIds) LIMIT 1`,
});

/** Throws ComparisonUnjudged if one of these receipts belongs to a competitor of an unjudged comparison. */
export async function refuseUnjudged(projectId: string, receiptIds: string[]): Promise<void> {
  const unjudged = await findUnjudged.first(pool, { projectId, receiptIds });
  if (unjudged) refuseBlind(unjudged, "The receipt");
}

/**
 * One artifact of a job, ready to be streamed. Throws NotFound for an unknown artifact or another job's, and
 * Gone if its content was removed.
 */
export async function artifact(
  ctx: Ctx,
  jobId: string,
  artifactId: string,
  right: Scope = "jobs:read",
): Promise<ArtifactRow> {
  const job = await findJob(ctx, jobId, right);
  const found = (await artifactsOf(job)).find((each) => each.artifact_id === artifactId);
  if (!found) fail("NotFound", "This job has no such artifact.");
  if (found.pruned_at || !(await artifactStore().stat(found.sha256)))
    fail("Gone", "The content of this artifact was removed at the end of its retention.");
  return found;
}
