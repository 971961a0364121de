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

/** What is read of a job: all but its lease, what only dispatch, webhooks and repeats use, and the state of its hold. */
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
  /** How long its content is kept; absent where its request was not read with it. */
  content_kept_ms?: number | null;
  /** How long its lease still lasted when it was read, by the database's clock; absent where that was not read. */
  lease_left_ms?: number | null;
};

/** What the input of an admitted job names was its submitter's to name: its worker looks for it in the whole project. */
export const reachOf = ({ project_id }: Pick<JobRow, "project_id">): InputReach => ({
  projectId: project_id,
  outputsOf: null,
});

const ROW_STAYS = "when a request's content goes, its row stays";
/** The request beside its job. */
export const REQUEST = {
  payload_id: present(payload.id, ROW_STAYS),
  content: payload.content,
  is_sealed: present(payload.is_sealed, ROW_STAYS),
  content_kept_ms: column<number | null>("float8", true),
};
export const REQUEST_COLUMNS = `payload.id AS payload_id, payload.content, payload.is_sealed,
  (extract(epoch FROM payload.expires_at - payload.created_at) * 1000)::float8 AS content_kept_ms`;
/** What is left of the lease of a job. */
export const LEASE_LEFT = { lease_left_ms: column<number | null>("float8", true) };
export const LEASE_LEFT_COLUMN =
  "(extract(epoch FROM job.lease_until - clock_timestamp()) * 1000)::float8 AS lease_left_ms";
/** A job read together with its request. */
export type JobWithRequest = JobRow & Of<typeof REQUEST>;

/** A wait for a person as the row keeps it; what the wire shows is derived. */
export type StoredApproval = {
  reason: "estimate_above_threshold" | "turnaround_review";
  /** The step of the flow that waits; null: nothing has run yet. */
  step: string | null;
  estimatedMicros: number;
  maximumMicros: number;
  thresholdMicros: number | null;
  isDifferentApproverRequired: boolean;
  requestedAt: string;
  /** What there is to look at, by the step's own choice. */
  shown: Record<string, Json>;
  /** How long the started job has waited for people so far: no part of its execution limit. */
  pausedMs: number;
  /** `authorizedMaxAmount`: null if the approver named none; absent where version 0.2.0 wrote it. */
  decision: { decision: "approved" | "rejected"; at: string; authorizedMaxAmount?: number | null } | null;
};

/** Why an operator is asked: what keeps failing, and whether what was paid for is still there. */
export type StoredAttention = {
  reason: "output_not_stored" | "output_not_processed";
  step: "store_output" | "process_output";
  since: string;
  /** The payload with the provider's answer; null: it is stored as artifacts, or was too large to be kept. */
  answerId: string | null;
};

/** What is read of an attempt, beside its job. */
const ATTEMPT = omit(attempt, "project_id", "job_id", "fence", "ended_at");
export type AttemptRow = Of<typeof ATTEMPT>;

/** A definite refusal of a tier, after which the same request may be sent once more on standard. */
export type TierRefusal = {
  tier: Tier;
  httpStatus: number;
  message: string;
  providerRequestId: string | null;
  submittedAt: string;
  refusedAt: string;
};

/** The tier a job asks its provider for: the cheaper one it was planned on, until that is refused. */
export function tierToAsk(
  { pricing }: Pick<JobRow, "pricing">,
  attempt: Pick<AttemptRow, "tier_refusal">,
): Tier {
  return pricing.processing === "deferred" && !attempt.tier_refusal ? "flex" : "standard";
}

/** From when the execution limit counts: the start, later by what the job has waited for people since. */
export function workedFrom(job: Pick<JobRow, "started_at" | "created_at" | "approval">): number {
  return (job.started_at ?? job.created_at).getTime() + (job.approval?.pausedMs ?? 0);
}

/** When content of this job that is stored now may be removed: kept as long as at its admission, where that is known. */
export function expiryOf(
  { content_kept_ms, retention_requirement }: Pick<JobRow, "retention_requirement" | "content_kept_ms">,
  now: Date,
): Date | null {
  return keptUntil(content_kept_ms === undefined ? keptMs(retention_requirement) : content_kept_ms, now);
}

/** Is what this job takes in and puts out kept encrypted? */
export const isSealedOf = (job: Pick<JobRow, "data_classification" | "retention_requirement">) =>
  isKeptSealed(job.data_classification, job.retention_requirement);

/** What an attempt keeps of its end beside its columns, so that another process can end the job from the rows alone. */
export type StoredOutcome = Omit<Ending, "state" | "kind" | "observed" | "said"> &
  Pick<Ending["observed"], "estimated" | "submissions"> & {
    outcome: Ending["state"];
    /** The tier that ran; absent: no answer tells. */
    tier?: Tier;
  };

/** The slot status of a provider's file that is kept as it came, while something is still to be done with it. */
export const UNPROCESSED = "unprocessed";

const FILE = {
  ...pick(jobArtifact, "artifact_id", "kind", "label", "variant_index", "slice_cell_id", "slot_status"),
  facts: column<FileFacts | null>("jsonb", true),
};
const STORED_FILE = pick(artifact, "media_type", "sha256", "byte_length", "filename");
export type ArtifactRow = Of<typeof FILE> &
  Of<typeof STORED_FILE> & {
    /** When its bytes were removed; absent on one that is stored just now. */
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

/** The key that its caller gave it, also once it is free again. */
export const keyOf = (job: Pick<JobRow, "environment" | "idempotency_key" | "released_key">): string =>
  callersKey(job.environment, job.released_key ?? job.idempotency_key);

/** What belongs to the view of a job beside its row. */
export type JobParts = {
  /** The last one; refused: one of its requests left and was answered with a definite no, after which it may be submitted again. */
  attempt: (LastAttempt & { isRefused: boolean }) | null;
  artifacts: ArtifactRow[];
  payloads: PayloadRow[];
  /** What its receipt says of the price. Null: the job has not ended. */
  sealed: Pick<Receipt, "pricing"> | null;
  /** Null: nothing is reserved. */
  hold: HoldFacts | null;
  /** Of a blind job alone: what all competitors were asked alike. */
  shared?: Record<string, Json>;
};

const jobOf = statement("find-job", {
  params: { jobId: text, ...SCOPE },
  row: JOB,
  prepared: true,
  sql: `SELECT ${names(JOB)} FROM job WHERE id = $jobId AND ${IN_SCOPE}`,
});

/**
 * The job of this id, where the caller may see it. Somebody else's job and none at all are the
 * same NotFound.
 */
export async function findJob(ctx: Ctx, jobId: string, right: Scope = "jobs:read"): Promise<JobRow> {
  const scope = access.authorize(ctx, right, "made rows");
  const [row] = await readInScope(jobOf, scope, { jobId });
  return row ?? noSuchJob();
}

export function noSuchJob(): never {
  fail("NotFound", "There is no such job.");
}

const OF_JOB = { id: text, project_id: text };
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

export async function attemptOf(job: Pick<JobRow, "id" | "project_id">): Promise<AttemptRow | null> {
  return lastAttempt.first(pool, job);
}

/** Every attempt of a job, the first one first. */
export async function attemptsOf(job: Pick<JobRow, "id" | "project_id">): Promise<AttemptRow[]> {
  return allAttempts.all(pool, job);
}

/** An attempt that came as JSON, whose times are text there. */
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

/** The attempt of this id: the engine's own read. */
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

/** The receipt as sealed, with its hash and signature; null before the end. */
export async function sealedReceiptOf(job: Pick<JobRow, "id" | "project_id">): Promise<Receipt | null> {
  const row = await receiptOfJob.first(pool, job);
  return row && toReceipt({ ...row, keyId: row.key_id });
}

/** The content of a payload row, in the clear; null where it was removed. */
export function parseContent(payload: StoredContent | undefined): Json {
  const content = payload ? openContent(payload) : null;
  return content === null ? null : JSON.parse(content);
}

/** The request of a job as far as it is kept: of HashesOnly it is there for the run alone. */
export function requestContentOf(job: JobRow, payloads: PayloadRow[]): Json {
  if (job.retention_requirement === "HashesOnly" && TERMINAL.includes(job.status)) return null;
  return parseContent(payloads.find((payload) => payload.kind === "request"));
}
