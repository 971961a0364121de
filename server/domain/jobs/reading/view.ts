import type { Charge } from "@/server/contract/charge";
import {
  type Job,
  type JobApproval,
  type JobArtifactRef,
  type JobListItem,
  TERMINAL,
} from "@/server/contract/jobs";
import type { HoldFacts } from "@/server/domain/budgets";
import { SANDBOX } from "@/server/domain/catalog";
import { chargeOf, type ExecutionMoney, holdFor } from "@/server/domain/executions";
import type { Json } from "@/server/platform/durable/step";
import { microsToUsd } from "@/server/platform/money";
import { publicUrl } from "@/server/platform/settings/env";
import { isObject } from "@/server/platform/text/json";
import { keptSaid } from "../ending/provider-said";
import {
  type ArtifactRow,
  type AttemptRow,
  type JobParts,
  type JobRow,
  keyOf,
  type PayloadRow,
  parseContent,
  requestContentOf,
  type StoredApproval,
  UNPROCESSED,
} from "../rows";
import { blindApproval, blindJob, blindListItem } from "./blind";
import { hintsOf, isNewKeySafe, toError } from "./hints";
import type { Line } from "./list";
import { withPrompt } from "./prompt";

/**
 * The wire's Job, with hints that are derived and never stored. A blind job shows only what `blindJob`
 * allows.
 */
export function toJob(job: JobRow, parts: JobParts, now: Date): Job {
  const view = toWholeJob(job, parts, now);
  return job.is_blind ? blindJob(job, view, parts.shared) : view;
}

function toWholeJob(job: JobRow, parts: JobParts, now: Date): Job {
  const typedOutput = parseContent(parts.payloads.find((payload) => payload.kind === "output"));
  const isTerminal = TERMINAL.includes(job.status);
  const shown = parts.artifacts.filter((row) => job.status !== "running" || row.slot_status !== UNPROCESSED);
  return {
    jobId: job.id,
    capabilityKey: job.capability_key,
    capability: job.capability_key,
    status: job.status,
    projectId: job.project_id,
    productId: job.product_id,
    environment: job.environment,
    externalRef: job.external_ref,
    tags: job.tags,
    metadata: job.metadata,
    correlationId: job.correlation_id,
    taskKind: job.task_kind,
    idempotencyKey: keyOf(job),
    createdAt: job.created_at.toISOString(),
    startedAt: job.started_at?.toISOString() ?? null,
    completedAt: job.completed_at?.toISOString() ?? null,
    estimatedCost: microsToUsd(job.pricing.expectedUpstreamMicros),
    actualCost: job.actual_micros === null ? null : microsToUsd(job.actual_micros),
    providerCostEstimatedMicros: job.pricing.expectedUpstreamMicros,
    providerCostMicros: job.actual_micros ?? parts.hold?.foundCostMicros ?? null,
    currency: "USD",
    processing: job.provider ? job.pricing.processing : null,
    charge: chargeOfJob(job, parts.hold),
    chargeResolution: toResolution(job, parts.hold),
    dataClassification: job.data_classification,
    retentionRequirement: job.retention_requirement,
    maturityRating: job.maturity?.rating ?? null,
    matureContentTraits: job.maturity?.traits ?? [],
    maturitySource: job.maturity?.source ?? null,
    pricing: parts.sealed?.pricing ?? null,
    // A file that is stored only to be processed is hidden while the job runs, and shown if processing
    // failed.
    artifacts: shown.map((row) => toArtifactRef(job.id, row, job.selected_artifact_id)),
    variantSet:
      job.requested_variants === null
        ? null
        : {
            schemaVersion: "service.variant-set.v1",
            requestedCount: job.requested_variants,
            completedCount: job.completed_variants,
            failedCount: job.failed_variants,
            selectedArtifactId: job.selected_artifact_id,
          },
    selectedArtifactId: job.selected_artifact_id,
    primaryArtifactId: primaryOf(job, shown),
    receiptId: job.receipt_id,
    typedOutput,
    outputs: typedOutput,
    warnings: job.warnings,
    error: toError(job, parts.attempt, keptSaid(parts.payloads)),
    progress: job.progress,
    diagnostics: {
      backendKind: job.provider ? "provider" : "local",
      backendState: backendStateOf(parts.attempt),
      backendId: job.provider ? `${job.provider}/${job.model}` : job.capability_key,
    },
    requestSnapshot: toSnapshot(job, parts.payloads),
    ...hintsOf(job, parts.attempt, now),
    retry: { sameKey: !isTerminal, newKeySafe: isNewKeySafe(job, parts.attempt) },
    approval: toApproval(job),
    retryOf: job.retry_of,
    comparison: competesIn(job),
  };
}

/** A line of the history. It never contains prompts, snapshots or error messages. */
export function toJobListItem(row: Line): JobListItem {
  const item = {
    jobId: row.id,
    status: row.status,
    capabilityKey: row.capability_key,
    capability: row.capability_key,
    createdAt: row.created_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
    artifactCount: row.artifact_count,
    errorCode: row.error_code,
    selectedArtifactId: row.selected_artifact_id,
    receiptId: row.receipt_id,
    actualCost: row.actual_micros === null ? null : microsToUsd(row.actual_micros),
    providerCostMicros: row.actual_micros ?? row.hold?.foundCostMicros ?? null,
    charge: chargeOf({
      billingMode: row.billing_mode,
      estimatedMicros: row.estimated_micros,
      hold: row.hold,
    }),
    comparison: competesIn(row),
  };
  return row.is_blind ? blindListItem(item) : item;
}

const competesIn = ({ comparison_id, is_blind }: Pick<JobRow, "comparison_id" | "is_blind">) =>
  comparison_id === null ? null : { comparisonId: comparison_id, isJudged: !is_blind };

export function toArtifactRef(
  jobId: string,
  row: ArtifactRow,
  selectedArtifactId: string | null,
): JobArtifactRef {
  return {
    artifactId: row.artifact_id,
    mediaType: row.media_type,
    kind: row.kind,
    downloadPath: `/v1/jobs/${jobId}/artifacts/${row.artifact_id}`,
    sha256: row.sha256,
    byteLength: row.byte_length,
    label: row.label,
    filename: row.filename,
    variantIndex: row.variant_index,
    sliceCellId: row.slice_cell_id,
    slotStatus: row.slot_status,
    ...row.facts,
    ...(row.variant_index === null ? {} : { selected: row.artifact_id === selectedArtifactId }),
  };
}

/** Kinds of artifacts that show a whole set in one file. */
export const SHEET_KINDS = ["composite-sheet", "contact-preview", "sheet", "contact-sheet"];

/**
 * The artifact that a client should open first: the one a person chose, else the only one that is the whole
 * result, a mesh before a sheet. Null if a person still has to choose, or if several files are equally good.
 */
function primaryOf(job: JobRow, artifacts: ArtifactRow[]): string | null {
  if (job.selected_artifact_id) return job.selected_artifact_id;
  if ((job.requested_variants ?? 1) > 1) return null;
  const meshes = artifacts.filter((artifact) => artifact.kind === "mesh");
  if (meshes.length === 1) return meshes[0]!.artifact_id;
  const sheets = artifacts.filter((artifact) => SHEET_KINDS.includes(artifact.kind));
  if (sheets.length === 1) return sheets[0]!.artifact_id;
  if (artifacts.filter((artifact) => artifact.slice_cell_id).length > 1) return null;
  return artifacts.length === 1 ? artifacts[0]!.artifact_id : null;
}

/** The approval to decide on; null unless the job is waiting for one. */
export function toApproval(job: JobRow): JobApproval | null {
  const { approval } = job;
  if (job.status !== "awaiting_approval" || !approval) return null;
  const decide = `/v1/jobs/${job.id}`;
  const whole: JobApproval = {
    ...approval.shown,
    reason: approval.reason,
    message: MESSAGE_OF_WAIT[approval.reason],
    step: approval.step,
    estimatedCost: microsToUsd(approval.estimatedMicros),
    maximumCost: microsToUsd(approval.maximumMicros),
    chargeEstimatedMicros: approval.estimatedMicros,
    chargeMaximumMicros: approval.maximumMicros,
    threshold: approval.thresholdMicros === null ? null : microsToUsd(approval.thresholdMicros),
    currency: "USD",
    requestedAt: approval.requestedAt,
    deadlineAt: job.approval_deadline_at?.toISOString() ?? null,
    whoMayDecide: {
      roles: ["member", "admin", "owner"],
      keyScope: "approvals:write",
      differentPersonRequired: approval.isDifferentApproverRequired,
    },
    approvalUrl: `${publicUrl}/jobs/${job.id}`,
    approvePath: `${decide}/approve`,
    rejectPath: `${decide}/reject`,
  };
  return job.is_blind ? blindApproval(job, whole) : whole;
}

const MESSAGE_OF_WAIT: Record<StoredApproval["reason"], string> = {
  estimate_above_threshold:
    "The estimate is above the project's approval threshold. A person must approve it.",
  turnaround_review: "A person must review the drawn views before the mesh is made.",
};

/** The executed request; if its content was removed, the facts that the row still holds. */
function toSnapshot(job: JobRow, payloads: PayloadRow[]): Record<string, Json> {
  const known = {
    capability: job.capability_key,
    productId: job.product_id,
    environment: job.environment,
    idempotencyKey: keyOf(job),
  };
  const content = requestContentOf(job, payloads);
  if (!isObject(content)) return known;
  const { input } = content;
  return { ...content, ...known, ...(isObject(input) ? { input: withPrompt(input) } : {}) };
}

/**
 * The submission state of all calls: `attempted` if an earlier call or a refused request left, even if
 * nothing of the last attempt has.
 */
function backendStateOf(attempt: JobParts["attempt"]): AttemptRow["submission"] {
  if (!attempt) return "not_attempted";
  const hasLeft = attempt.number > 1 || attempt.isRefused;
  return hasLeft && attempt.submission === "not_attempted" ? "attempted" : attempt.submission;
}

export const chargeOfJob = ({ billing_mode, pricing }: JobRow, hold: HoldFacts | null): Charge =>
  chargeOf({ billingMode: billing_mode, estimatedMicros: pricing.expectedMicros, hold });

/**
 * The hold of a job that was just admitted, or just ended with this money, without reading it back; null if
 * nothing is reserved.
 */
export const heldFor = (job: JobRow, money?: ExecutionMoney): HoldFacts | null =>
  holdFor(job.pricing, { funding: job.hold_funding, isTest: job.provider === SANDBOX }, money);

/** The later finding about a charge that was unknown when the job ended; null if there is none. */
function toResolution(job: JobRow, hold: HoldFacts | null): Job["chargeResolution"] {
  if (!hold?.resolvedAt || job.completed_at === null || job.actual_micros !== null) return null;
  const chargedMicros = hold.settledMicros ?? 0;
  return {
    outcome: chargedMicros > 0 ? "charged" : "not_charged",
    chargedMicros,
    charged: microsToUsd(chargedMicros),
    resolvedAt: new Date(hold.resolvedAt).toISOString(),
  };
}
