import type { Capability } from "@/server/capabilities/define";
import type { Charge } from "@/server/contract/charge";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { InvocationResult } from "@/server/contract/jobs";
import { TERMINAL } from "@/server/contract/jobs";
import { type HoldFacts, readHold } from "@/server/domain/budgets";
import { getCapability } from "@/server/domain/catalog";
import { OUTPUT_REMOVED } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import type { SentKey } from "@/server/domain/envelope";
import {
  awaitFirst,
  clockOf,
  type Ending,
  failUnknown,
  faultOf,
  freesKey,
  isKnownUnsent,
  jobLeases,
  type Next,
  nothingSent,
  type ProviderMessage,
  resultOf,
  sleep,
  unsentFault,
  visibleProviderMessage,
  withSaid,
} from "@/server/domain/executions";
import { attemptLater } from "@/server/generated/schema";
import { untilEnded } from "@/server/platform/durable/retry";
import type { Json } from "@/server/platform/durable/step";
import { type ErrorCode, Fault, fail } from "@/server/platform/errors/errors";
import { isOutage } from "@/server/platform/errors/outage";
import { receiptIdOf } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { microsToUsd } from "@/server/platform/money";
import { contentOf } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import type { SubmissionState } from "@/server/providers/define";
import { admit, type Fresh, toRow } from "../admission/admit";
import type { InternalTerms } from "../admission/submission";
import { chargeOfCall, type JobEnd } from "../ending/end";
import { freshIn, NOTHING, warningsOf } from "../ending/ending";
import { correctUnsentJob } from "../ending/never-sent";
import { keptSaid } from "../ending/provider-said";
import { resolutionOf } from "../reading/hints";
import { chargeOfJob, heldFor } from "../reading/view";
import { type AttemptRow, type JobRow, lastAttemptOf, parseContent, payloadsOf } from "../rows";
import type { Admission } from "../transitions/admission";
import { unrecorded } from "./keep-answer";
import { attempt } from "./run";
import { runLocally, STREAM, submit } from "./turn";
import { type LoadedWork, readJob } from "./work";

function freshAttempt(admission: Admission): AttemptRow | null {
  if (!admission.attempt_id || !admission.started_at) return null;
  return {
    ...attemptLater,
    id: admission.attempt_id,
    number: 1,
    stage: null,
    provider: admission.provider,
    model: admission.model,
    submission: "ambiguous",
    started_at: admission.started_at,
    submission_begun_at: admission.started_at,
  };
}

/**
 * An invoke through another interface: it accepts an answer that was cut off or calls tools, and may submit
 * more than the input.
 */
export type Door = Pick<InternalTerms, "conversation" | "newMembers">;

/**
 * Runs a capability and returns when it has ended: admission is committed before the first byte can leave,
 * and the receipt before the answer. A failure is thrown as an error with the execution's id; its record
 * stays readable. A replay of the same key and request returns the first execution, and waits for it while it
 * still runs; so does the repeat of a request without a key that lost its answer (repeats.ts). A stream is
 * answered once it is admitted, and runs on even if no one reads its frames.
 */
export async function invoke(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
  {
    idempotencyHeader,
    door,
  }: { idempotencyHeader?: string | SentKey | undefined; door?: Door | undefined } = {},
): Promise<InvocationResult> {
  const capability = getCapability(capabilityKey);
  const { jobId, fresh } = await admit(ctx, {
    kind: "invoke",
    capability,
    raw,
    idempotencyHeader,
    beside: { conversation: door?.conversation, newMembers: door?.newMembers },
  });
  if (!fresh) return replay(ctx, jobId);
  const takesAsSaid = door !== undefined;
  const job = toRow(fresh.admission, { content_kept_ms: fresh.contentKeptMs });
  if (job.mode === STREAM) {
    execute(ctx, capability, { prepared: fresh, job, takesAsSaid }).catch((cause) => {
      // The record says how the execution ended. Without an end there, the lease runs out and the sweeper
      // writes one.
      if (!(cause instanceof Fault)) log.error({ err: cause, jobId: job.id }, "a stream failed");
    });
    return toStreaming(job, heldFor(job));
  }
  const written = await execute(ctx, capability, { prepared: fresh, job, takesAsSaid });
  // Another process or a cancel ended the execution, so its record has the answer.
  if (!written) return replay(ctx, jobId);
  const { ending } = written;
  const warnings = [...fresh.plan.warnings, ...warningsOf(ending)];
  return toResult(job, written, warnings, chargeOfCall(job, ending));
}

/** The answer to a stream that has not ended or has not succeeded; its frames contain the rest. */
function toStreaming(job: JobRow, hold: HoldFacts | null): InvocationResult {
  const hasEnded = TERMINAL.includes(job.status);
  return {
    ...requestOf(job),
    status: hasEnded ? job.status : "running",
    typedOutput: null,
    outputPayloadRef: null,
    generatedArtifacts: [],
    usage: null,
    actualCost: job.actual_micros === null ? 0 : microsToUsd(job.actual_micros),
    providerCostMicros: job.actual_micros,
    charge: chargeOfJob(job, hold),
    terminationReason: null,
    receiptId: job.receipt_id,
    errorCode: job.error_code,
    dispatchStatus: hasEnded ? "completed" : "streaming",
    warnings: job.warnings,
  };
}

/** Fields of every answer that describe the execution and its request. */
const requestOf = (job: JobRow) => ({
  executionId: job.id,
  resolvedProvider: job.provider || null,
  resolvedModel: job.model || null,
  externalRef: job.external_ref,
  tags: job.tags,
  metadata: job.metadata,
});

/** Carries an execution to its end. Null if another process wrote the end, or if it was canceled. */
async function execute(
  ctx: Ctx,
  capability: Capability,
  {
    prepared: { plan, admission, input, goodUntil },
    job,
    takesAsSaid,
  }: { prepared: Fresh; job: JobRow; takesAsSaid: boolean },
): Promise<Pick<JobEnd, "ending" | "kept"> | null> {
  const { route, call, material } = plan;
  const row = freshAttempt(admission);
  const ready = route && call ? { route, call, material } : null;
  const work: LoadedWork = {
    job,
    capability: ready ? plan.capability : capability,
    input: plan.input,
    inputHash: (await contentOf(input)).sha256,
    route: route ?? null,
    hasReader: false,
    ...(ready ? { sync: { ready, takesAsSaid, waitsUntil: waitsUntil(job) } } : {}),
  };
  try {
    const { isUnsent, written } = await untilEnded<Extract<Next<JobEnd>, { state: "ended" }>>(
      async (turn) => {
        // Admission has begun the first submission. Only a provider's call takes another turn, so `row`
        // exists then.
        if (turn > 1)
          return attempt(ctx, job.id, { attemptId: row!.id, fence: 1 }, { known: null, inHand: work });
        const lease = jobLeases.hold(job.id, 1, {
          deadlineMs: job.execution_seconds * 1000,
          goodUntil,
        });
        const first =
          ready && row
            ? submit({ ctx, work: { ...work, ...ready }, row, lease })
            : runLocally({ ctx, work, row, lease });
        return first.finally(lease.release);
      },
      (ms) => sleep(clockOf(ctx), ms),
    );
    // A canceled execution is answered from its record instead.
    if (isUnsent && (await readJob(job.id))?.status !== "canceled") throw unsentFault(job.id);
    return written && !written.isCanceled ? written : null;
  } catch (cause) {
    if (isOutage(cause) && !row) void correctUnsentJob(ctx, { jobId: job.id, fence: 1, attemptId: null });
    if (isOutage(cause) && isKnownUnsent(job.id)) throw unsentFault(job.id);
    await ctx.unkeyed?.answeredEarly?.();
    // The provider may have run the request although our own storage fails, so sending it again could run it
    // twice.
    if (!row || !isOutage(cause)) throw cause;
    ctx.log.error({ err: cause, jobId: job.id }, "the result of an execution could not be recorded");
    return unrecorded(job.id);
  }
}

/**
 * The time until which a caller waits for a provider without capacity: the queue deadline of the request, but
 * never beyond its execution limit.
 */
const waitsUntil = ({ created_at, queue_deadline_at, execution_seconds }: JobRow) =>
  new Date(Math.min(queue_deadline_at.getTime(), created_at.getTime() + execution_seconds * 1000));

/**
 * Returns a success as the wire's InvocationResult, and throws a failure as an error that names the record.
 */
function toResult(
  job: JobRow,
  { ending, kept }: Pick<JobEnd, "ending" | "kept">,
  warnings: Record<string, unknown>[],
  charge: Charge,
): InvocationResult {
  const { observed, code, message, details, said } = ending;
  const fresh = freshIn(kept);
  const receiptId = receiptIdOf(job.id);
  if (code === ("ServiceUnavailable" satisfies ErrorCode) && freesKey(ending)) throw unsentFault(job.id);
  if (ending.state === "failed")
    throw toInvocationFault(
      { ...job, status: "failed", error_code: code, actual_micros: costOf(ending) },
      { message, details, said, submission: observed.submission },
    );
  const cost = observed.costMicros === null ? 0 : microsToUsd(observed.costMicros);
  return {
    ...requestOf(job),
    status: "succeeded",
    typedOutput: fresh?.output ? JSON.parse(fresh.output.content) : null,
    outputPayloadRef: fresh?.output?.id ?? null,
    generatedArtifacts: fresh?.artifacts.map((artifact) => artifact.artifact_id) ?? [],
    usage: {
      inputTokens: observed.usage?.inputTokens ?? null,
      outputTokens: observed.usage?.outputTokens ?? null,
      estimatedCost: microsToUsd(job.pricing.expectedUpstreamMicros),
      actualCost: cost,
      providerCostEstimatedMicros: job.pricing.expectedUpstreamMicros,
      providerCostMicros: observed.costMicros,
      currency: "USD",
    },
    actualCost: cost,
    providerCostMicros: observed.costMicros,
    charge,
    terminationReason: ending.finishReason ?? "completed",
    receiptId,
    errorCode: null,
    dispatchStatus: "completed",
    warnings: JSON.parse(JSON.stringify(warnings)),
  };
}

/** The cost of the provider's work; null if it is not known. */
const costOf = ({ settlement, observed }: Ending) => (settlement === "released" ? 0 : observed.costMicros);

/** The error of a synchronous execution: what happened and why, then the next step. */
function toInvocationFault(
  job: JobRow,
  {
    message,
    details,
    said,
    submission,
  }: {
    message: string | null;
    details: Record<string, Json> | undefined;
    said: ProviderMessage | null | undefined;
    submission: SubmissionState;
  },
): Fault {
  const next = resolutionOf(job, { submission, number: 1 });
  return faultOf({ code: job.error_code, message }, next, {
    ...withSaid(details, visibleProviderMessage(job, said)).details,
    executionId: job.id,
    receiptId: receiptIdOf(job.id),
  });
}

/**
 * Answers with the execution that an earlier request began. Waits while it runs, for its execution limit and
 * a margin.
 */
async function replay(ctx: Ctx, jobId: string): Promise<InvocationResult> {
  const job = await awaitFirst(
    clockOf(ctx),
    async () => (await readJob(jobId)) ?? fail("NotFound", "There is no such execution."),
    ({ mode, status }) => mode === STREAM || TERMINAL.includes(status) || status === "needs_attention",
    ({ execution_seconds }) => execution_seconds * 1000,
  );
  if (!job) {
    await ctx.unkeyed?.answeredEarly?.();
    return failUnknown(jobId, "The first execution of this request is still running.");
  }
  if (job.mode === STREAM && job.status !== "succeeded") return toStreaming(job, await readHold(job.id));
  return job.status === "needs_attention" ? unrecorded(job.id) : fromRows(job);
}

async function fromRows(job: JobRow): Promise<InvocationResult> {
  const [attempt, payloads, hold] = await Promise.all([
    lastAttemptOf(job),
    payloadsOf(job),
    readHold(job.id),
  ]);
  if (job.status !== "succeeded") {
    throw toInvocationFault(
      { ...job, error_code: job.error_code ?? "Cancelled" },
      {
        message: job.error?.message ?? null,
        details: job.error?.details,
        said: keptSaid(payloads),
        submission: attempt?.submission ?? "not_attempted",
      },
    );
  }
  const output = payloads.find((payload) => payload.kind === "output");
  const submission = attempt?.submission ?? "not_attempted";
  const usage = attempt?.usage ?? null;
  const ending = resultOf({
    observed: { ...nothingSent, submission, usage, costMicros: job.actual_micros },
    finishReason: attempt?.answer?.finishReason ?? null,
  });
  const result = toResult(job, { ending, kept: NOTHING }, job.warnings, chargeOfJob(job, hold));
  const typedOutput = parseContent(output);
  const listed = isObject(typedOutput) && Array.isArray(typedOutput.artifacts) ? typedOutput.artifacts : [];
  const generatedArtifacts = listed.flatMap((each) =>
    isObject(each) && typeof each.artifactId === "string" ? [each.artifactId] : [],
  );
  // Removed output must differ from an execution that answered nothing.
  const warnings = output?.content === null ? [...result.warnings, OUTPUT_REMOVED] : result.warnings;
  return { ...result, typedOutput, outputPayloadRef: output?.id ?? null, generatedArtifacts, warnings };
}
