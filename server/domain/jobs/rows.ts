import type { FileFacts } from "@/server/capabilities/define";
import { TERMINAL } from "@/server/contract/jobs";
import type { Receipt } from "@/server/contract/receipts";
import { access } from "@/server/domain/access";
import type { HoldFacts } from "@/server/domain/budgets";
import { isKeptSealed, openContent, type StoredContent } from "@/server/domain/content";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { callersKey, keptMs, keptUntil } from "@/server/domain/envelope";
import type { Ending } from "@/server/domain/executions";
import type { InputReach } from "@/server/domain/inputs";
import { toReceipt } from "@/server/domain/receipts";
import { artifact, attempt, job, jobArtifact, payload, receipt } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import type { Tier } from "@/server/providers/define";
import { column, names, type Of, omit, pick, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { IN_SCOPE, readInScope, SCOPE } from "@/server/sql/tenant";

/**
 * Columns of a job that readers need. Left out are, among others, its engine run, the end of its lease, the
 * state of its hold, and the columns of dispatch, webhooks and repeats.
 */
export const JOB = {
  ...omit(
    job,
    "run_id",
    "lease_until",
    "dispatch_state",
    "dispatch_number",
    "dispatch_after",
    "last_frame",
    "credential_ids",
    "hold_state",
    "admitted_events",
    "webhook_event",
    "repeat_hash",
    "waiter",
    "waiter_process",
    "waiter_state",
    "waiter_retries",
    "hold_settled_micros",
    "hold_resolved_at",
    "hold_resolved_by",
    "hold_note",
    "hold_resolution",
  ),
  tags: present(job.tags, "Prisma declares lists without NOT NULL; admission always gives one"),
};
export type JobRow = Of<typeof JOB> & {
  /** How long the job's content is kept, in milliseconds; absent unless its request was read with it. */
  content_kept_ms?: number | null;
  /** Remaining lease at the time of the read, by the database's clock; absent unless it was read. */
  lease_left_ms?: number | null;
};

/**
 * Admission has checked that the submitter may use these inputs, so the worker finds them anywhere in the
 * project.
 */
export const reachOf = ({ project_id }: Pick<JobRow, "project_id">): InputReach => ({
  projectId: project_id,
  outputsOf: null,
});

const ROW_STAYS = "when a request's content goes, its row stays";
/** Columns of the request that are read together with its job. */
export const REQUEST = {
  payload_id: present(payload.id, ROW_STAYS),
  content: payload.content,
  is_sealed: present(payload.is_sealed, ROW_STAYS),
  content_kept_ms: column<number | null>("float8", true),
};
export const REQUEST_COLUMNS = `payload.id AS payload_id, payload.content, payload.is_sealed,
  (extract(epoch FROM payload.expires_at - payload.created_at) * 1000)::float8 AS content_kept_ms`;
export const LEASE_LEFT = { lease_left_ms: column<number | null>("float8", true) };
export const LEASE_LEFT_COLUMN =
  "(extract(epoch FROM job.lease_until - clock_timestamp()) * 1000)::float8 AS lease_left_ms";
export type JobWithRequest = JobRow & Of<typeof REQUEST>;

/** A wait for a person as the row stores it; the wire's approval is derived from it. */
export type StoredApproval = {
  reason: "estimate_above_threshold" | "turnaround_review";
  /** The step of the flow that waits; null if nothing has run yet. */
  step: string | null;
  estimatedMicros: number;
  maximumMicros: number;
  thresholdMicros: number | null;
  isDifferentApproverRequired: boolean;
  requestedAt: string;
  /** Values that the step chose to show to the person. */
  shown: Record<string, Json>;
  /** How long the started job has waited for people so far. Its execution limit does not count this time. */
  pausedMs: number;
  /** `authorizedMaxAmount`: null if the approver named none; absent if version 0.2.0 wrote the decision. */
  decision: { decision: "approved" | "rejected"; at: string; authorizedMaxAmount?: number | null } | null;
};

/** Why a job needs an operator: the step that keeps failing, and the answer that was paid for. */
export type StoredAttention = {
  reason: "output_not_stored" | "output_not_processed";
  step: "store_output" | "process_output";
  since: string;
  /**
   * The payload with the provider's answer. Null if the files are already artifacts, or if the answer was too
   * large to keep.
   */
  answerId: string | null;
};

/** Columns of an attempt that are read with its job. */
const ATTEMPT = omit(attempt, "project_id", "job_id", "fence", "ended_at");
export type AttemptRow = Of<typeof ATTEMPT>;

/** A definite refusal of a tier. The same request may then be sent once more on the standard tier. */
export type TierRefusal = {
  tier: Tier;
  httpStatus: number;
  message: string;
  providerRequestId: string | null;
  submittedAt: string;
  refusedAt: string;
};

/**
 * The tier to request from the provider: the planned one, or standard once the provider has refused the
 * cheaper tier.
 */
export function tierToAsk(
  { pricing }: Pick<JobRow, "pricing">,
  attempt: Pick<AttemptRow, "tier_refusal">,
): Tier {
  return pricing.processing === "deferred" && !attempt.tier_refusal ? "flex" : "standard";
}

/**
 * Start of the execution limit in epoch milliseconds: the job's start, moved later by the time that the job
 * has waited for people since.
 */
export function workedFrom(job: Pick<JobRow, "started_at" | "created_at" | "approval">): number {
  return (job.started_at ?? job.created_at).getTime() + (job.approval?.pausedMs ?? 0);
}

/**
 * When content of this job that is stored now may be removed; null if never. Applies the period from
 * admission if it was read with the job, otherwise the period of the retention requirement.
 */
export function expiryOf(
  { content_kept_ms, retention_requirement }: Pick<JobRow, "retention_requirement" | "content_kept_ms">,
  now: Date,
): Date | null {
  return keptUntil(content_kept_ms === undefined ? keptMs(retention_requirement) : content_kept_ms, now);
}

/** True if the job's input and output are stored encrypted. */
export const isSealedOf = (job: Pick<JobRow, "data_classification" | "retention_requirement">) =>
  isKeptSealed(job.data_classification, job.retention_requirement);

/**
 * The parts of an attempt's ending that have no column, so that another process can end the job from the rows
 * alone.
 */
export type StoredOutcome = Omit<Ending, "state" | "kind" | "observed" | "said" | "partial"> &
  Pick<Ending["observed"], "estimated" | "submissions"> & {
    outcome: Ending["state"];
    /** The tier that ran; absent if there is neither an answer nor reported usage. */
    tier?: Tier;
  };

/** Slot status of a provider's file that is stored as received because it still has to be processed. */
export const UNPROCESSED = "unprocessed";

const FILE = {
  ...pick(jobArtifact, "artifact_id", "kind", "label", "variant_index", "slice_cell_id", "slot_status"),
  facts: column<FileFacts | null>("jsonb", true),
};
const STORED_FILE = pick(artifact, "media_type", "sha256", "byte_length", "filename");
export type ArtifactRow = Of<typeof FILE> &
  Of<typeof STORED_FILE> & {
    /** When its bytes were removed; absent on an artifact that was stored just now. */
    pruned_at?: Date | string | null;
  };
export const FILES = `SELECT ${names(FILE, "job_artifact")}, ${names(STORED_FILE, "artifact")}, artifact.pruned_at
  FROM job_artifact JOIN artifact ON artifact.project_id = job_artifact.project_id AND artifact.id = job_artifact.artifact_id`;

const PAYLOAD = {
  ...pick(payload, "id", "content", "is_sealed", "sha256"),
  kind: column<"request" | "output" | "native">("text"),
};
export type PayloadRow = Of<typeof PAYLOAD>;

export type LastAttempt = Pick<AttemptRow, "submission" | "number">;

/** The idempotency key that the caller sent, even if a new request may use that key again. */
export const keyOf = (job: Pick<JobRow, "environment" | "idempotency_key" | "released_key">): string =>
  callersKey(job.environment, job.released_key ?? job.idempotency_key);

/** The data that the view of a job needs in addition to its row. */
export type JobParts = {
  /**
   * The last attempt; null if there is none. `isRefused`: the provider refused a submission of it for lack of
   * capacity or because of its tier.
   */
  attempt: (LastAttempt & { isRefused: boolean }) | null;
  artifacts: ArtifactRow[];
  payloads: PayloadRow[];
  /** The receipt's price; null until the job has ended. */
  sealed: Pick<Receipt, "pricing"> | null;
  /** Null if nothing is reserved. */
  hold: HoldFacts | null;
  /** Only set on a blind job: the parts of the request that all competitors share. */
  shared?: Record<string, Json>;
};

const jobOf = statement("find-job", {
  params: { jobId: text, ...SCOPE },
  row: JOB,
  prepared: true,
  sql: `SELECT ${names(JOB)} FROM job WHERE id = $jobId AND ${IN_SCOPE}`,
});

/**
 * Returns the job if the caller may see it. Throws the same NotFound for an unknown id as for a job of
 * someone else.
 */
export async function findJob(ctx: Ctx, jobId: string, right: Scope = "jobs:read"): Promise<JobRow> {
  const scope = access.authorize(ctx, right, "made rows");
  const [row] = await readInScope(jobOf, scope, { jobId });
  return row ?? noSuchJob();
}

export function noSuchJob(): never {
  fail("NotFound", "There is no such job.");
}

export const OF_JOB = { id: text, project_id: text };
const SIGNED = "every end signs its receipt";
const SEALED = {
  ...pick(receipt, "body", "hash"),
  signature: present(receipt.signature, SIGNED),
  key_id: present(receipt.key_id, SIGNED),
};
const attempts = (name: string, order: string) =>
  statement(name, {
    params: OF_JOB,
    row: ATTEMPT,
    prepared: true,
    sql: `SELECT ${names(ATTEMPT)} FROM attempt WHERE job_id = $id AND project_id = $project_id ORDER BY ${order}`,
  });
const lastAttempt = attempts("attempt-of", "number DESC LIMIT 1");
const allAttempts = attempts("attempts-of", "number");

export async function lastAttemptOf(job: Pick<JobRow, "id" | "project_id">): Promise<AttemptRow | null> {
  return lastAttempt.first(pool, job);
}

/** Every attempt of a job, oldest first. */
export async function listAttempts(job: Pick<JobRow, "id" | "project_id">): Promise<AttemptRow[]> {
  return allAttempts.all(pool, job);
}

/** Restores the dates of an attempt that was read as JSON. */
export function attemptFromJson(row: AttemptRow): AttemptRow {
  const time = (value: Date | null) => value && new Date(value);
  return {
    ...row,
    started_at: new Date(row.started_at),
    submission_begun_at: time(row.submission_begun_at),
    answered_at: time(row.answered_at),
  };
}

const anAttempt = statement("attempt-by-id", {
  params: { attemptId: text },
  row: ATTEMPT,
  prepared: true,
  sql: `SELECT ${names(ATTEMPT)} FROM attempt WHERE id = $attemptId`,
});

/** An attempt by its id, without an access check, for the engine alone; null if there is none. */
export async function attemptById(attemptId: string): Promise<AttemptRow | null> {
  return anAttempt.first(pool, { attemptId });
}

const filesOfJob = statement("artifacts-of", {
  params: OF_JOB,
  row: { ...FILE, ...STORED_FILE, pruned_at: artifact.pruned_at },
  prepared: true,
  sql: `${FILES} WHERE job_artifact.job_id = $id AND job_artifact.project_id = $project_id ORDER BY position`,
});
const payloadsOfJob = statement("payloads-of", {
  params: OF_JOB,
  row: PAYLOAD,
  prepared: true,
  sql: `SELECT ${names(PAYLOAD)} FROM payload WHERE job_id = $id AND project_id = $project_id AND kind IN ('request', 'output', 'native')`,
});
const receiptOfJob = statement("receipt-of", {
  params: OF_JOB,
  row: SEALED,
  prepared: true,
  sql: `SELECT ${names(SEALED)} FROM receipt WHERE job_id = $id AND project_id = $project_id`,
});

export const artifactsOf = (job: Pick<JobRow, "id" | "project_id">): Promise<ArtifactRow[]> =>
  filesOfJob.all(pool, job);

export const payloadsOf = (job: Pick<JobRow, "id" | "project_id">): Promise<PayloadRow[]> =>
  payloadsOfJob.all(pool, job);

/** The receipt as sealed, with its hash and signature; null until the job has ended. */
export async function sealedReceiptOf(job: Pick<JobRow, "id" | "project_id">): Promise<Receipt | null> {
  const row = await receiptOfJob.first(pool, job);
  return row && toReceipt({ ...row, keyId: row.key_id });
}

/** Parses the decrypted content of a payload row; null if there is no row or its content was removed. */
export function parseContent(payload: StoredContent | undefined): Json {
  const content = payload ? openContent(payload) : null;
  return content === null ? null : JSON.parse(content);
}

/**
 * The request of a job; null if its content was removed. A HashesOnly job shows its request only until it
 * ends.
 */
export function requestContentOf(job: JobRow, payloads: PayloadRow[]): Json {
  if (job.retention_requirement === "HashesOnly" && TERMINAL.includes(job.status)) return null;
  return parseContent(payloads.find((payload) => payload.kind === "request"));
}
