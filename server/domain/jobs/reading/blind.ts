import type { JobEvent } from "@/server/contract/job-events";
import {
  type Job,
  type JobApproval,
  type JobArtifactRef,
  type JobError,
  type JobListItem,
  TERMINAL,
} from "@/server/contract/jobs";
import { getCapability, isCapability } from "@/server/domain/catalog";
import { openContent } from "@/server/domain/content";
import { job as jobTable, payload } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { canonicalText } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { maybe, pick } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { JobRow } from "../rows";
import { withPrompt } from "./prompt";

/*
 * The parts of a job that may be shown before its comparison is judged: the work, but nothing that reveals
 * who did it, at what price or how fast (docs/guides/compare-models.md). Every view names its fields one by
 * one, so that a new field does not compile until it is decided here. `insertTogether`
 * (transitions/admission.ts) sets `is_blind`, and `judge` (comparisons) clears it.
 * prisma/guards/7-executions.sql decides what the books show.
 */

/** Refuses an answer that would reveal which model did the work. */
export function refuseBlind(job: Pick<JobRow, "is_blind" | "comparison_id">, what: string): void {
  if (!job.is_blind) return;
  fail("ComparisonUnjudged", `${what} would reveal which model did the work. Judge the comparison first.`, {
    comparisonId: job.comparison_id ?? "",
  });
}

/** A file without the facts that would reveal its maker. The file name is our own. */
function blindArtifact(ref: JobArtifactRef): JobArtifactRef {
  return {
    artifactId: ref.artifactId,
    mediaType: ref.mediaType,
    kind: ref.kind,
    downloadPath: ref.downloadPath,
    sha256: ref.sha256,
    byteLength: ref.byteLength,
    label: ref.label,
    filename: ref.filename,
    variantIndex: ref.variantIndex,
    sliceCellId: ref.sliceCellId,
    slotStatus: ref.slotStatus,
    ...(ref.durationMs === undefined ? {} : { durationMs: ref.durationMs }),
    ...(ref.selected === undefined ? {} : { selected: ref.selected }),
  };
}

/** The failure in our own words, because the provider's would reveal who it is. */
function blindError(error: JobError | null): JobError | null {
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

/**
 * The approval to decide on: at admission all competitors have the same one, and inside a flow the time of
 * the wait is left out.
 */
export function blindApproval(job: Pick<JobRow, "created_at">, approval: JobApproval): JobApproval {
  const { reason, message, step, estimatedCost, maximumCost, threshold, currency, whoMayDecide } = approval;
  const { chargeEstimatedMicros, chargeMaximumMicros, approvalUrl, approvePath, rejectPath, artifacts } =
    approval;
  return {
    ...(Array.isArray(artifacts) ? { artifacts: artifacts.map(toLook) } : {}),
    reason,
    message,
    step,
    estimatedCost,
    maximumCost,
    chargeEstimatedMicros,
    chargeMaximumMicros,
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
  if (!isObject(shown)) return null;
  const { artifactId, kind, slotStatus, mediaType, downloadPath } = shown;
  return {
    artifactId: artifactId ?? null,
    kind: kind ?? null,
    slotStatus: slotStatus ?? null,
    mediaType: mediaType ?? null,
    downloadPath: downloadPath ?? null,
  };
};

/** The job without anything that would reveal its competitor. */
export function blindJob(job: JobRow, view: Job, shared: Record<string, Json> | undefined): Job {
  const typedOutput = blindOutput(job.capability_key, view.typedOutput);
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
    // The job's own key may number the competitors in the order of the request.
    idempotencyKey: job.comparison_id ?? "",
    createdAt: view.createdAt,
    startedAt: null,
    completedAt: null,
    estimatedCost: null,
    actualCost: null,
    providerCostEstimatedMicros: null,
    providerCostMicros: null,
    charge: null,
    currency: view.currency,
    processing: null,
    chargeResolution: null,
    dataClassification: view.dataClassification,
    retentionRequirement: view.retentionRequirement,
    maturityRating: view.maturityRating,
    matureContentTraits: view.matureContentTraits,
    maturitySource: view.maturitySource,
    pricing: null,
    artifacts: view.artifacts.map(blindArtifact),
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
    requestSnapshot: shared
      ? { ...shared, ...(isObject(shared.input) ? { input: withPrompt(shared.input) } : {}) }
      : null,
    nextAction: view.status === "failed" ? "inspect_error" : view.nextAction,
    pollAfterSeconds: view.pollAfterSeconds,
    retry: { sameKey: false, newKeySafe: false },
    approval: view.approval,
    retryOf: null,
    comparison: view.comparison,
  };
}

/** A line of a list without anything that would reveal its competitor. */
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
    providerCostMicros: null,
    charge: null,
    comparison: item.comparison,
  };
}

/**
 * For each event type, the fields that are the same for every competitor. Null if the event alone reveals a
 * competitor: a warning on the dearer one, or progress that only some vendors report.
 */
export const SHOWN_OF_EVENTS: Readonly<Record<string, readonly string[] | null>> = {
  "job.queued": ["capabilityKey"],
  "job.started": ["capabilityKey"],
  "job.provider_submitted": [],
  "job.progress": null,
  "job.reader_text": ["text", "sequence", "boundary", "provisional"],
  "job.artifact_stored": ["artifactId", "mediaType", "sha256", "byteLength", "variantIndex", "sliceCellId"],
  "job.awaiting_approval": ["reason", "step", "estimatedCost", "chargeEstimatedMicros", "threshold"],
  "job.approved": ["by", "principalId", "authorizedMaxAmount"],
  "job.rejected": ["by", "principalId"],
  "job.budget_warning": null,
  "job.cancel_requested": ["by"],
  "job.retry_scheduled": ["step", "by"],
  "job.needs_attention": ["reason", "step"],
  "job.variant_selected": ["artifactId"],
  "job.succeeded": ["artifactCount"],
  "job.failed": ["code"],
  "job.canceled": ["code"],
  "job.receipt_sealed": [],
};

/**
 * Shows that an event happened, but not when: every event has the time of the job's admission. Null if the
 * event is hidden.
 */
export function blindEvent(job: Pick<JobRow, "created_at">, event: JobEvent): JobEvent | null {
  const shown = SHOWN_OF_EVENTS[event.type] ?? null;
  if (!shown) return null;
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

/*
 * The typed output of a blind job. Text and objects in the caller's own shape are the work itself and are
 * shown whole. Our capabilities write the facts around files: only those named here are shown, because how a
 * file was made (the way its background was removed, the renderer) may reveal the maker.
 */

/** Facts about files that may be shown: their measures, and their position among others. */
const MEASURES = new Set([
  "images",
  "artifacts",
  "mesh",
  "views",
  "contactSheet",
  "sheet",
  "cells",
  "artifactId",
  "filename",
  "label",
  "downloadPath",
  "variantIndex",
  "view",
  "sliceCellId",
  "slotStatus",
  "row",
  "column",
  "rows",
  "columns",
  "source",
  "x",
  "y",
  "kind",
  "mediaType",
  "byteLength",
  "durationMs",
  "aspectRatio",
  "width",
  "height",
  "coverage",
  "meshes",
  "vertices",
  "triangles",
  "textured",
]);

/** Typed output in the form that may be shown before the comparison is judged. */
function blindOutput(capabilityKey: string, output: Json): Json {
  if (output === null || !isCapability(capabilityKey)) return null;
  const { outputKind } = getCapability(capabilityKey);
  if (outputKind === "artifact") return measuresOf(output);
  return outputKind === "text" ? wordsOf(output) : output;
}

function measuresOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(measuresOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, Json][] =>
      MEASURES.has(name) ? [[name, measuresOf(each)]] : [],
    ),
  );
}

/** The text and the called tools. Their ids are replaced, because the form of an id reveals its vendor. */
function wordsOf(output: Json): Json {
  if (!isObject(output)) return output;
  const { content, role, toolCalls } = output;
  return {
    content: content ?? "",
    role: role ?? "assistant",
    ...(Array.isArray(toolCalls)
      ? {
          toolCalls: toolCalls.map((call, place) => {
            const { name, arguments: given } = call as { name: Json; arguments: Json }; // as their schema has them
            return { id: `call-${place + 1}`, name, arguments: given };
          }),
        }
      : {}),
  };
}

/** Parts of a request that name who is to do the work or how; a blind job never shows them. */
const CONSTRAINTS = new Set(["execution", "sampling", "budget"]);

const listRequests = statement("payload.list.competitors_requests", {
  params: pick(jobTable, "organization_id project_id comparison_id"),
  row: { id: maybe(payload.id), content: payload.content, is_sealed: maybe(payload.is_sealed) },
  prepared: true,
  sql: `SELECT payload.id, payload.content, payload.is_sealed FROM job competitor
    LEFT JOIN payload ON payload.project_id = competitor.project_id AND payload.job_id = competitor.id AND payload.kind = 'request'
    WHERE competitor.organization_id = $organization_id AND competitor.project_id = $project_id
      AND competitor.comparison_id = $comparison_id AND competitor.is_blind`,
});

/**
 * The request that all competitors share: the fields of the request and of its input that are the same in
 * each. If the content of one is not kept, the shared fields are unknown and none is shown.
 */
export async function sharedRequestOf(job: JobRow): Promise<Record<string, Json>> {
  const known = {
    capability: job.capability_key,
    productId: job.product_id,
    environment: job.environment,
  };
  if (job.retention_requirement === "HashesOnly" && TERMINAL.includes(job.status)) return known;
  const rows = await listRequests.all(pool, job);
  const requests = rows.map(({ id, content: stored, is_sealed }) => {
    const content = id === null ? null : openContent({ id, content: stored, is_sealed: is_sealed ?? false });
    return content === null ? null : (JSON.parse(content) as Record<string, Json>); // written by admission
  });
  const whole = requests.filter((each) => each !== null);
  if (whole.length < requests.length || whole.length < 2) return known;
  const { input: _, ...shared } = sharedBy(whole, CONSTRAINTS);
  const input = sharedBy(whole.map((each) => each.input as Record<string, Json>)); // an object by its schema
  return { ...shared, ...known, input };
}

/** The fields that have the same value in every object. */
function sharedBy(objects: Record<string, Json>[], but: ReadonlySet<string> = new Set()) {
  const [first = {}, ...others] = objects;
  return Object.fromEntries(
    Object.entries(first).filter(
      ([name, value]) =>
        !but.has(name) &&
        others.every((each) => name in each && canonicalText(each[name]!) === canonicalText(value)),
    ),
  );
}

/**
 * The request as it may be shown. It has no hash, because a reader who knows how the competitors vary could
 * find theirs by its hash.
 */
export async function blindRequest(job: JobRow): Promise<Record<string, Json>> {
  const shared = await sharedRequestOf(job);
  return {
    jobId: job.id,
    capabilityKey: job.capability_key,
    idempotencyKey: job.comparison_id,
    requestHash: null,
    sha256: null,
    contentState: "input" in shared ? "available" : "pruned",
    request: "input" in shared ? shared : null,
  };
}
