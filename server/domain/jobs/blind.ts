import type {
  Job,
  JobApproval,
  JobArtifactRef,
  JobError,
  JobEvent,
  JobListItem,
} from "@/server/contract/jobs";
import { pool } from "@/server/db";
import { entryFilename } from "@/server/domain/artifacts";
import { fail } from "@/server/errors";
import type { Json } from "@/server/step";
import { blindOutput } from "./blind-output";
import type { JobRow } from "./rows";

/*
 * What may be shown of a job while nobody has judged the comparison it is a competitor of: the work, and nothing that says
 * who did it, for how much or how fast (docs/guides/compare-models.md). Every view is written out field by field, so that a field
 * that is added to it later does not compile before it is decided here.
 */

type Blind = Pick<JobRow, "id" | "is_blind" | "comparison_id" | "created_at" | "capability_key">;

/** Refuses an answer that would reveal which model did the work. */
export function refuseBlind(job: Pick<JobRow, "is_blind" | "comparison_id">, what: string): void {
  if (!job.is_blind) return;
  fail("ComparisonUnjudged", `${what} would reveal which model did the work. Judge the comparison first.`, {
    comparisonId: job.comparison_id ?? "",
  });
}

/** Which entry of its comparison a blind job is, from 1 on; null for every other job, and asked of nobody then. */
export async function entryPlaceOf(job: Pick<JobRow, "id" | "is_blind">): Promise<number | null> {
  if (!job.is_blind) return null;
  const { rows } = await pool.query<{ position: number }>({
    name: "entry-place",
    text: "SELECT position FROM comparison_entry WHERE job_id = $1",
    values: [job.id],
  });
  return rows[0]?.position ?? null;
}

/** A file by its entry, and without names that its maker gave it. */
export function blindArtifact(ref: JobArtifactRef, place: number | null): JobArtifactRef {
  return {
    artifactId: ref.artifactId,
    mediaType: ref.mediaType,
    kind: ref.kind,
    downloadPath: ref.downloadPath,
    sha256: ref.sha256,
    byteLength: ref.byteLength,
    label: null,
    filename: entryFilename(place, ref.mediaType),
    variantIndex: ref.variantIndex,
    sliceCellId: ref.sliceCellId,
    slotStatus: ref.slotStatus,
    ...(ref.durationMs === undefined ? {} : { durationMs: ref.durationMs }),
    ...(ref.selected === undefined ? {} : { selected: ref.selected }),
  };
}

/** Why it failed, in our own words: those of a provider would reveal it. */
export function blindError(error: JobError | null): JobError | null {
  if (!error) return null;
  const { code, retryable, terminal } = error;
  return {
    code,
    message: `The job failed with ${code}. The provider's message is shown after the comparison is judged.`,
    retryable,
    terminal,
    resolution: "Judge the comparison to see how each entry ended and what it cost.",
  };
}

/** What is decided on: at admission the same for all competitors, inside a flow without the moment it came there. */
export function blindApproval(job: Blind, approval: JobApproval | null): JobApproval | null {
  if (!approval) return null;
  const { reason, message, step, estimatedCost, maximumCost, threshold, currency, whoMayDecide } = approval;
  const { approvalUrl, approvePath, rejectPath, artifacts } = approval;
  return {
    ...(Array.isArray(artifacts) ? { artifacts: artifacts.map(toLook) } : {}),
    reason,
    message,
    step,
    estimatedCost,
    maximumCost,
    threshold,
    currency,
    requestedAt: job.created_at.toISOString(),
    deadlineAt: step === null ? approval.deadlineAt : null,
    whoMayDecide,
    approvalUrl,
    approvePath,
    rejectPath,
  };
}

const toLook = (shown: Json): Json => {
  if (typeof shown !== "object" || shown === null || Array.isArray(shown)) return null;
  const { artifactId, kind, slotStatus, mediaType, downloadPath } = shown;
  return {
    artifactId: artifactId ?? null,
    kind: kind ?? null,
    slotStatus: slotStatus ?? null,
    mediaType: mediaType ?? null,
    downloadPath: downloadPath ?? null,
  };
};

/** What a view of a blind job needs beyond its own rows. */
export type Veil = {
  place: number | null;
  /** What was asked of all competitors alike. */
  request: Record<string, Json>;
};

/** The job without what would betray its competitor. */
export function blindJob(job: JobRow, view: Job, veil: Veil | undefined): Job {
  const place = veil?.place ?? null;
  const typedOutput = blindOutput(job.capability_key, view.typedOutput, place);
  return {
    jobId: view.jobId,
    capabilityKey: view.capabilityKey,
    capability: view.capability,
    status: view.status,
    projectId: view.projectId,
    productId: view.productId,
    environment: view.environment,
    externalRef: view.externalRef,
    tags: view.tags,
    metadata: view.metadata,
    correlationId: view.correlationId,
    taskKind: view.taskKind,
    // Its own may count the competitors in the order in which they were asked for.
    idempotencyKey: job.comparison_id ?? "",
    createdAt: view.createdAt,
    startedAt: null,
    completedAt: null,
    estimatedCost: null,
    actualCost: null,
    currency: view.currency,
    processing: null,
    chargeResolution: null,
    dataClassification: view.dataClassification,
    retentionRequirement: view.retentionRequirement,
    maturityRating: view.maturityRating,
    matureContentTraits: view.matureContentTraits,
    maturitySource: view.maturitySource,
    pricing: null,
    artifacts: view.artifacts.map((ref) => blindArtifact(ref, place)),
    variantSet: view.variantSet,
    selectedArtifactId: view.selectedArtifactId,
    primaryArtifactId: view.primaryArtifactId,
    receiptId: null,
    typedOutput,
    outputs: typedOutput,
    warnings: [],
    error: blindError(view.error),
    progress: null,
    diagnostics: null,
    requestSnapshot: veil?.request ?? null,
    nextAction: view.status === "failed" ? "inspect_error" : view.nextAction,
    pollAfterSeconds: view.pollAfterSeconds,
    retry: { sameKey: false, newKeySafe: false },
    approval: blindApproval(job, view.approval),
    retryOf: null,
    comparison: view.comparison,
  };
}

/** A line of a list, likewise. */
export function blindListItem(item: JobListItem): JobListItem {
  return {
    jobId: item.jobId,
    status: item.status,
    capabilityKey: item.capabilityKey,
    capability: item.capability,
    createdAt: item.createdAt,
    completedAt: null,
    artifactCount: item.artifactCount,
    errorCode: item.errorCode,
    selectedArtifactId: item.selectedArtifactId,
    receiptId: null,
    actualCost: null,
    comparison: item.comparison,
  };
}

/** Of every type of event: what of it is the same whoever does the work. A type that is not listed shows nothing. */
export const SHOWN_OF_EVENTS: Readonly<Record<string, readonly string[]>> = {
  "job.queued": ["capabilityKey"],
  "job.started": ["capabilityKey"],
  "job.provider_submitted": [],
  "job.progress": [],
  "job.reader_text": ["text", "sequence", "boundary", "provisional"],
  "job.artifact_stored": ["artifactId", "mediaType", "sha256", "byteLength", "variantIndex", "sliceCellId"],
  "job.awaiting_approval": ["reason", "step", "estimatedCost", "threshold"],
  "job.approved": ["by", "principalId", "authorizedMaxAmount"],
  "job.rejected": ["by", "principalId"],
  "job.budget_warning": [],
  "job.cancel_requested": ["by"],
  "job.retry_scheduled": ["step", "by"],
  "job.needs_attention": ["reason", "step"],
  "job.variant_selected": ["artifactId"],
  "job.succeeded": ["artifactCount"],
  "job.failed": ["code"],
  "job.canceled": ["code"],
  "job.receipt_sealed": [],
};

/** That it happened, not when: all events of a job have the moment of its admission. */
export function blindEvent(job: Pick<Blind, "created_at">, event: JobEvent): JobEvent {
  const shown = SHOWN_OF_EVENTS[event.type] ?? [];
  return {
    id: event.id,
    cursor: event.cursor,
    type: event.type,
    jobId: event.jobId,
    projectId: event.projectId,
    createdAt: job.created_at.toISOString(),
    payload: Object.fromEntries(
      shown.flatMap((name) => (name in event.payload ? [[name, event.payload[name] as Json]] : [])),
    ),
  };
}
