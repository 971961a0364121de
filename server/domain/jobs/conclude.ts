import { canonicalText, sha256Hex } from "@/server/canonical";
import type { OutputFile } from "@/server/capabilities/define";
import { isKeptSealed } from "@/server/content";
import { keepContents, readWhole } from "@/server/domain/artifacts";
import { type CallOutcome, type Observed, settle } from "@/server/domain/attempts";
import { accountOf, type Funding, fundingOfHold } from "@/server/domain/budgets";
import { SANDBOX } from "@/server/domain/catalog";
import { type Estimate, serviceFee } from "@/server/domain/quotes";
import { sealReceipt } from "@/server/domain/receipts";
import { failpoint } from "@/server/failpoint";
import { newId, newIdAt } from "@/server/ids";
import type { Micros } from "@/server/money";
import type { Json } from "@/server/step";
import { expiryOf } from "./retention";
import {
  type ArtifactRow,
  type AttemptRow,
  artifactsOf,
  attemptsOf,
  type JobRow,
  type StoredOutcome,
  tierToAsk,
  UNPROCESSED,
} from "./rows";
import { partsOf, sharesOf, together, usedTogether } from "./together";
import type { StoredAnswer, StoredArtifact } from "./transitions/answer";
import { type Finish, finish } from "./transitions/finish";
import type { NewEvent } from "./transitions/moves";
import { toArtifactRef } from "./view";

/** An attempt that has ended, whether its outcome came just now or was read back from its row. */
export type Ended = {
  outcome: StoredOutcome;
  observed: Observed;
  /** Content that is not stored yet; null: nothing, or stored before. */
  fresh: { output: StoredAnswer["output"]; artifacts: StoredArtifact[] } | null;
};

/** Puts files into the store and names them; the rows that list them are written with the answer. */
export async function keepFiles(
  job: Pick<JobRow, "retention_requirement" | "content_kept_ms" | "is_blind" | "created_at">,
  files: OutputFile[],
  now: Date,
): Promise<StoredArtifact[]> {
  const expires_at = expiryOf(job, now);
  const stored = await keepContents(files.map(({ bytes }) => bytes));
  return stored.map(({ sha256, byteLength }, place) => {
    const file = files[place]!;
    return {
      // Of a blind job not even the id says how fast it came.
      artifact_id: job.is_blind ? newIdAt("artifact", job.created_at.getTime()) : newId("artifact"),
      media_type: file.mediaType,
      sha256,
      byte_length: byteLength,
      filename: file.filename,
      kind: file.kind,
      label: file.label ?? null,
      variant_index: file.variantIndex ?? null,
      slice_cell_id: file.sliceCellId ?? null,
      slot_status: file.slotStatus ?? null,
      facts: file.facts ?? null,
      expires_at,
    };
  });
}

/** The provider's files of a job as they were kept, in their order: what `keepFiles` stored before they are worked on. */
export async function keptFiles(job: Pick<JobRow, "id" | "project_id">): Promise<OutputFile[]> {
  const kept = (await artifactsOf(job)).filter((row) => row.slot_status === UNPROCESSED);
  return Promise.all(
    kept.map(async (row) => ({
      bytes: await readWhole(row.sha256),
      mediaType: row.media_type,
      kind: row.kind,
      filename: row.filename ?? row.artifact_id,
      ...(row.variant_index === null ? {} : { variantIndex: row.variant_index }),
      ...(row.facts === null ? {} : { facts: row.facts }),
    })),
  );
}

/** The typed output as stored text; a capability that yields files lists them in it. */
export function toOutput(
  job: Pick<JobRow, "id" | "data_classification" | "retention_requirement" | "content_kept_ms">,
  typedOutput: unknown,
  artifacts: (StoredArtifact | ArtifactRow)[],
  now: Date,
): NonNullable<StoredAnswer["output"]> {
  const listed = artifacts.map((artifact) => ({
    artifactId: artifact.artifact_id,
    downloadPath: `/v1/jobs/${job.id}/artifacts/${artifact.artifact_id}`,
    mediaType: artifact.media_type,
    kind: artifact.kind,
    ...artifact.facts,
    ...(artifact.variant_index === null ? {} : { variantIndex: artifact.variant_index }),
    ...(artifact.slice_cell_id === null ? {} : { sliceCellId: artifact.slice_cell_id }),
    ...(artifact.label === null ? {} : { label: artifact.label }),
  }));
  const whole = listed.length > 0 ? { ...(typedOutput as object), artifacts: listed } : typedOutput;
  const content = canonicalText(whole as Json); // parsed by the capability's output schema
  return {
    id: newId("payload"),
    content,
    sha256: sha256Hex(content),
    byte_length: Buffer.byteLength(content),
    is_sealed: isKeptSealed(job.data_classification, job.retention_requirement),
    expires_at: expiryOf(job, now),
  };
}

export function storedEvents(artifacts: StoredArtifact[]): NewEvent[] {
  return artifacts.map((artifact) => ({
    type: "job.artifact_stored",
    payload: {
      artifactId: artifact.artifact_id,
      mediaType: artifact.media_type,
      sha256: artifact.sha256,
      byteLength: artifact.byte_length,
      variantIndex: artifact.variant_index,
      ...(artifact.slice_cell_id === null ? {} : { sliceCellId: artifact.slice_cell_id }),
    },
  }));
}

const toAttemptUpdate = (
  attemptId: string,
  ended: Ended,
  answeredAt: Date,
  now: Date,
): StoredAnswer["attempt"] => ({
  id: attemptId,
  submission: ended.observed.submission,
  provider_request_id: ended.observed.providerRequestId,
  provider_model: ended.observed.providerModel,
  answer: {
    ...ended.outcome,
    ...(ended.observed.tier ? { tier: ended.observed.tier } : {}),
    ...(ended.observed.submissions ? { submissions: ended.observed.submissions } : {}),
  },
  usage: ended.observed.usage,
  http_status: ended.observed.httpStatus,
  error_code: ended.outcome.code,
  error_message: ended.outcome.message,
  cost_micros: ended.observed.costMicros,
  answered_at: ended.observed.submission === "attempted" ? answeredAt : null,
  ended_at: now,
});

/** What the answer statement stores: outcome, content and the artifacts' events. */
export function toAnswer(attemptId: string, ended: Ended, now: Date): StoredAnswer & { events: NewEvent[] } {
  return {
    attempt: toAttemptUpdate(attemptId, ended, now, now),
    output: ended.fresh?.output ?? null,
    artifacts: ended.fresh?.artifacts ?? [],
    // What is still to be worked on is told when that is done.
    events: ended.outcome.unprocessed ? [] : storedEvents(ended.fresh?.artifacts ?? []),
  };
}

export type Conclusion = {
  job: JobRow;
  inputHash: string | null;
  outputHash: string | null;
  engine: string | null;
  attempt: AttemptRow | null;
  artifacts: ArtifactRow[];
  ended: Ended;
  /** From which statuses, and under which fence (null: no lease is needed). */
  from: Finish["from"];
  fence: number | null;
  /** Only if nothing has happened to the job since it was read: for whoever does not hold its lease. */
  asRead?: boolean;
  canceled: boolean;
  /** Told before the end, in the same statement. */
  before?: NewEvent[];
  now: Date;
};

/**
 * Ends an execution: status, receipt, hold, ledger and events in one statement. False: another end came first.
 * `ended.fresh` is stored by the same statement.
 */
export async function conclude(conclusion: Conclusion): Promise<boolean> {
  const { job, attempt, ended, now } = conclusion;
  const { outcome, observed } = ended;
  const isTest = job.provider === SANDBOX;
  const isPaid = job.pricing.maximumMicros > 0;
  const to = conclusion.canceled ? "canceled" : outcome.outcome;
  const earlier = await earlierOf(job, attempt);
  const parts = partsOf(earlier, attempt ?? job, ended);
  const whole = together(parts);
  const money = settle(job.pricing, whole.settlement, whole.costMicros);
  const funding = isPaid ? await fundingOf(job) : null;
  // What the stages kept is there however it ends.
  const before = job.pricing.stages ? await artifactsOf(job) : conclusion.artifacts;
  const artifacts: ArtifactRow[] = [...before, ...(ended.fresh?.artifacts ?? [])];
  const error = outcome.code
    ? { code: outcome.code, message: outcome.message ?? outcome.code }
    : conclusion.canceled
      ? { code: "Cancelled", message: "The job was canceled." }
      : null;
  const receipt = await sealReceipt({
    jobId: job.id,
    capabilityKey: job.capability_key,
    status: to,
    principalId: job.principal_id,
    principalKind: job.principal_kind,
    submittedBy: job.submitted_by,
    organizationId: job.organization_id,
    projectId: job.project_id,
    productId: job.product_id,
    environment: job.environment,
    externalRef: job.external_ref,
    tags: job.tags,
    metadata: job.metadata,
    correlationId: job.correlation_id,
    taskKind: job.task_kind,
    dataClassification: job.data_classification,
    retentionRequirement: job.retention_requirement,
    maturity: job.maturity,
    mode: job.mode,
    retryOf: job.retry_of,
    executionSeconds: job.execution_seconds,
    requestHash: job.request_hash,
    inputHash: conclusion.inputHash,
    outputHash: ended.fresh?.output?.sha256 ?? conclusion.outputHash,
    provider: job.provider || null,
    model: job.model || null,
    engine: conclusion.engine,
    estimate: job.pricing,
    quoteId: job.quote_id,
    createdAt: job.created_at,
    startedAt: job.started_at,
    completedAt: now,
    artifacts: artifacts.map((row) => toArtifactRef(job.id, row, null)),
    attempt: attempt && toReceiptAttempt(job, attempt, ended, now),
    earlier: earlier.map((row) => toReceiptAttempt(job, row, endedBefore(row), now)),
    tier: observed.tier,
    usage: usedTogether(parts),
    finishReason: outcome.finishReason,
    requestedVariants: job.requested_variants,
    media: outcome.media ?? null,
    error,
    costMicros: isPaid ? money.costMicros : 0,
    chargedMicros: isPaid ? money.chargedMicros : 0,
    holdState: isPaid ? money.hold : null,
    funding,
    isTest,
  });
  const succeeded =
    to === "succeeded" ? artifacts.filter((artifact) => artifact.variant_index !== null).length : 0;
  const charged = money.chargedMicros ?? 0;
  const held = job.pricing.maximumMicros;
  failpoint("before-receipt");
  return finish({
    jobId: job.id,
    fence: conclusion.fence,
    seen_event: conclusion.asRead ? job.last_event : null,
    from: conclusion.from,
    to,
    now,
    error_code: error?.code ?? null,
    error: error && outcome.details ? { ...error, details: outcome.details } : error,
    actual_micros: isPaid ? money.costMicros : 0,
    completed_variants: succeeded,
    failed_variants: to === "succeeded" ? Math.max(0, (job.requested_variants ?? 0) - succeeded) : 0,
    receipt,
    hold: { state: money.hold, settled_micros: money.hold === "settled" ? charged : null },
    transaction_id: newId("transaction"),
    postings:
      isPaid && money.hold === "settled" && charged > 0
        ? [
            {
              account: accountOf(job.organization_id, funding),
              amount_micros: -Math.min(charged, held),
              kind: "charge",
            },
            // What the work cost above what was held: charged in full, and told apart.
            {
              account: accountOf(job.organization_id, funding),
              amount_micros: -Math.max(0, charged - held),
              kind: "overrun",
            },
            ...[...sharesOf(parts, charged - feeOf(job.pricing, money.costMicros))].map(
              ([provider, amount_micros]) => ({
                account: `provider:${provider}`,
                amount_micros,
                kind: "upstream",
              }),
            ),
            { account: "service_fee", amount_micros: feeOf(job.pricing, money.costMicros), kind: "fee" },
          ].filter((posting) => posting.amount_micros !== 0)
        : [],
    is_test: isTest,
    attempt:
      ended.fresh && attempt ? toAttemptUpdate(attempt.id, ended, attempt.answered_at ?? now, now) : null,
    output: ended.fresh?.output ?? null,
    artifacts: ended.fresh?.artifacts ?? [],
    events: [
      ...(conclusion.before ?? []),
      ...storedEvents(ended.fresh?.artifacts ?? []),
      to === "succeeded"
        ? { type: "job.succeeded", payload: { artifactCount: artifacts.length } }
        : to === "failed"
          ? { type: "job.failed", payload: { code: error?.code ?? "failed" } }
          : { type: "job.canceled", payload: { code: error?.code ?? "Cancelled" } },
      { type: "job.receipt_sealed", payload: { receiptId: receipt.id, receiptHash: receipt.hash } },
    ],
  });
}

/** The calls that were answered before the one a job ends with; most jobs make one. */
async function earlierOf(job: JobRow, attempt: AttemptRow | null): Promise<AttemptRow[]> {
  if (!job.pricing.stages) return [];
  return (await attemptsOf(job)).filter(({ id, answer }) => id !== attempt?.id && answer !== null);
}

const toReceiptAttempt = (
  job: JobRow,
  row: AttemptRow,
  { observed, outcome }: Pick<Ended, "observed" | "outcome">,
  now: Date,
) => ({
  attemptId: row.id,
  number: row.number,
  submission: observed.submission,
  providerRequestId: observed.providerRequestId,
  providerModel: observed.providerModel,
  httpStatus: observed.httpStatus,
  errorCode: outcome.code,
  submissions: observed.submissions ?? (observed.submission === "not_attempted" ? 0 : 1),
  capacityRejections: row.capacity_rejections,
  tierRefusal: row.tier_refusal,
  tier: tierToAsk(job, row),
  startedAt: row.started_at,
  submissionBegunAt: row.submission_begun_at,
  answeredAt: row.answered_at ?? (observed.submission === "attempted" ? now : null),
  stage: row.stage,
  provider: row.provider,
  model: row.model,
  usage: observed.usage,
  costMicros: outcome.settlement === "released" ? 0 : observed.costMicros,
});

/** What pays for a job: said with a fresh admission, else as its hold has it. */
async function fundingOf(job: JobRow): Promise<Funding> {
  return job.funding === undefined ? fundingOfHold(job.id) : job.funding;
}

const feeOf = (estimate: Estimate, costMicros: Micros | null) =>
  costMicros === null
    ? estimate.maximumMicros - estimate.maximumUpstreamMicros
    : serviceFee(costMicros, estimate.serviceFeeBps);

/** A failure the provider's answer told, as an end. */
export function endedAsFailed(outcome: Extract<CallOutcome, { state: "failed" }>): Ended {
  return {
    outcome: {
      outcome: "failed",
      code: outcome.code,
      message: outcome.message,
      settlement: outcome.settlement,
      finishReason: null,
      ...(outcome.details ? { details: outcome.details } : {}),
    },
    observed: outcome.observed,
    fresh: { output: null, artifacts: [] },
  };
}

/** An end without any provider answer: never submitted, too late, canceled, or lost. */
export function endedWithout(
  outcome: Omit<StoredOutcome, "outcome" | "finishReason" | "isSetAside">,
  submission: Observed["submission"],
): Ended {
  return {
    outcome: { outcome: "failed", finishReason: null, ...outcome },
    observed: {
      submission,
      providerRequestId: null,
      providerModel: null,
      httpStatus: null,
      tier: null,
      usage: null,
      costMicros: null,
    },
    fresh: { output: null, artifacts: [] },
  };
}

/** An end read back from an attempt that stored its answer before. */
export function endedBefore(attempt: AttemptRow): Ended {
  if (!attempt.answer) throw new Error("the attempt has no stored answer");
  return {
    outcome: attempt.answer,
    observed: {
      submission: attempt.submission,
      providerRequestId: attempt.provider_request_id,
      providerModel: attempt.provider_model,
      httpStatus: attempt.http_status,
      tier: attempt.answer.tier ?? null,
      usage: attempt.usage,
      costMicros: attempt.cost_micros,
      ...(attempt.answer.submissions ? { submissions: attempt.answer.submissions } : {}),
    },
    fresh: null,
  };
}
