import type { Conversation } from "@/server/capabilities/conversation";
import type { Capability } from "@/server/capabilities/define";
import { OUTPUT_REMOVED } from "@/server/content";
import type { Charge } from "@/server/contract/charge";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { InvocationResult } from "@/server/contract/jobs";
import { TERMINAL } from "@/server/contract/jobs";
import { type HoldFacts, readHold } from "@/server/domain/budgets";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import {
  backoffOf,
  gaveUp,
  kindOfResult,
  LEASE_MS,
  nextStepOf,
  type ProviderSaid,
  rowOf,
  streamCall,
  submitCall,
} from "@/server/domain/executions";
import { Fault, fail, isErrorCode } from "@/server/errors";
import { failpoint } from "@/server/failpoint";
import { receiptIdOf } from "@/server/ids";
import { log } from "@/server/log";
import { microsToUsd } from "@/server/money";
import { isOutage } from "@/server/outage";
import type { SubmissionState, TextCall } from "@/server/providers/define";
import type { Json } from "@/server/step";
import { admit, toRow } from "./admit";
import { chargeOfCall, conclude } from "./conclude";
import { type Ended, endedAsFailed, endedWithout } from "./ended";
import { type FrameWriter, frameWriter } from "./frames";
import { resolutionOf } from "./hints";
import { jobLeases } from "./leases";
import { keepFiles, toOutput } from "./output";
import type { Prepared } from "./prepare";
import { keptSaid, saidUnasked, withSaid } from "./provider-said";
import { type AttemptRow, attemptOf, type JobRow, parseContent, payloadsOf } from "./rows";
import { runHere } from "./run-here";
import type { Admission } from "./transitions/admission";
import { beginSubmission, keepHandle, takeBack } from "./transitions/attempt";
import { chargeOfJob, heldFor } from "./view";
import { inputHashOf, readJob } from "./work";

function freshAttempt(admission: Admission): AttemptRow | null {
  if (!admission.attempt_id || !admission.started_at) return null;
  return {
    id: admission.attempt_id,
    number: 1,
    stage: null,
    provider: admission.provider,
    model: admission.model,
    submission: "ambiguous",
    provider_request_id: null,
    provider_model: null,
    handle: null,
    answer: null,
    usage: null,
    http_status: null,
    error_code: null,
    error_message: null,
    capacity_rejections: 0,
    tier_refusal: null,
    cost_micros: null,
    started_at: admission.started_at,
    submission_begun_at: admission.started_at,
    answered_at: null,
  };
}

/** An invoke by a door of another interface, which takes an answer as it was said and may say more than an input does. */
export type Door = { conversation?: Conversation | undefined };

/**
 * Runs a capability and answers when it has ended: admission is committed before the first byte can leave, the receipt
 * before the answer. A failure is an error with the execution's id; its record stays readable. The same key and request
 * answer with the first execution, waiting for it when it is still running; so does the repeat of a request without a key that
 * lost its answer (repeats.ts). A stream is answered when it is admitted and
 * runs on by itself, whoever reads its frames.
 */
export async function invoke(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
  idempotencyHeader?: string,
  door?: Door,
): Promise<InvocationResult> {
  const capability = getCapability(capabilityKey);
  const beside = { conversation: door?.conversation };
  const { jobId, fresh } = await admit(ctx, "invoke", capability, raw, idempotencyHeader, beside);
  if (!fresh) return replay(ctx, jobId);
  const takesAsSaid = door !== undefined;
  const job = { ...toRow(fresh.admission), content_kept_ms: fresh.contentKeptMs, funding: fresh.funding };
  if (job.mode === STREAM) {
    execute(ctx, capability, fresh, job, takesAsSaid).catch((cause) => {
      // How it ended is on its record. Without an end there, its lease runs out and the sweeper writes one.
      if (!(cause instanceof Fault)) log.error({ err: cause, jobId: job.id }, "a stream failed");
    });
    return toStreaming(job, heldFor(job));
  }
  const ended = await execute(ctx, capability, fresh, job, takesAsSaid);
  return toResult(job, ended, fresh.plan.warnings, chargeOfCall(job, ended));
}

const STREAM = "invoke_stream";

/** A stream's answer before its end, and after an end that is no success: its frames tell the rest. */
function toStreaming(job: JobRow, hold: HoldFacts | null): InvocationResult {
  const isOver = TERMINAL.includes(job.status);
  return {
    executionId: job.id,
    status: isOver ? job.status : "running",
    resolvedProvider: job.provider || null,
    resolvedModel: job.model || null,
    externalRef: job.external_ref,
    tags: job.tags,
    metadata: job.metadata,
    typedOutput: null,
    outputPayloadRef: null,
    generatedArtifacts: [],
    usage: null,
    actualCost: job.actual_micros === null ? 0 : microsToUsd(job.actual_micros),
    charge: chargeOfJob(job, hold),
    terminationReason: null,
    receiptId: job.receipt_id,
    errorCode: job.error_code,
    dispatchStatus: isOver ? "completed" : "streaming",
    warnings: job.warnings,
  };
}

async function execute(
  ctx: Ctx,
  capability: Capability,
  prepared: Prepared,
  job: JobRow,
  takesAsSaid: boolean,
): Promise<Ended> {
  const { plan, admission } = prepared;
  const attempt = freshAttempt(admission);
  const lease = jobLeases.hold(job.id, 1, job.execution_seconds * 1000);
  const frames = job.mode === STREAM ? frameWriter(job, 1, ctx.now) : null;
  try {
    const ended =
      plan.route && plan.call && attempt
        ? await callProvider(ctx, prepared, job, attempt, lease.signal, frames, takesAsSaid)
        : await runHere(ctx, { capability, input: plan.input, job }, lease.signal);
    const conclusion = {
      job,
      inputHash: inputHashOf(prepared.input),
      outputHash: null,
      engine: "local" in capability.execute ? capability.execute.engine : null,
      attempt,
      artifacts: [],
      ended,
      fence: 1,
      now: ctx.now(),
    };
    if (await conclude({ ...conclusion, from: ["running"], canceled: false })) return ended;
    // A cancel that came meanwhile has the last word, here as in the record; the cost stays.
    if (await conclude({ ...conclusion, from: ["canceling"], canceled: true })) {
      const { code, message, details } = ended.outcome;
      throw toInvocationFault(
        { ...job, status: "canceled", error_code: code ?? "Cancelled", actual_micros: costOf(ended) },
        message ?? "The execution was canceled.",
        details,
        ended.said,
        ended.observed.submission,
      );
    } else {
      fail(
        "TRANSPORT_AMBIGUOUS",
        `This execution was ended by another process before its answer arrived. ${nextStepOf(false, "ambiguous")}`,
        {
          executionId: job.id,
          receiptId: receiptIdOf(job.id),
        },
      );
    }
  } catch (cause) {
    if (!(cause instanceof Fault)) await ctx.unkeyed?.answeredEarly?.();
    // The provider has answered and our own storage does not: sending it again would run it twice.
    if (!attempt || !isOutage(cause)) throw cause;
    ctx.log.error({ err: cause, jobId: job.id }, "the result of an execution could not be recorded");
    fail(
      "TRANSPORT_AMBIGUOUS",
      `The request was sent to the provider, and its result could not be recorded yet. ${nextStepOf(false, "ambiguous")}`,
      {
        executionId: job.id,
        receiptId: receiptIdOf(job.id),
      },
    );
  } finally {
    lease.release();
  }
}

/** Until when a caller waits for a provider that has no capacity: as the request says, and never beyond its own limit. */
const capacityDeadline = ({ created_at, queue_deadline_at, execution_seconds }: JobRow) =>
  Math.min(queue_deadline_at.getTime(), created_at.getTime() + execution_seconds * 1000);

/** What a move of the attempt is written under; the lease outlives the wait that follows. */
const held = (job: JobRow, attempt: AttemptRow, now: Date, waitMs: number) => ({
  jobId: job.id,
  fence: 1,
  attemptId: attempt.id,
  leaseUntil: new Date(now.getTime() + waitMs + LEASE_MS),
});

/**
 * Waits, then records that the request may leave once more. Meanwhile its row says that nothing was sent, so a process that
 * stops leaves no ambiguous hold. False: the execution was canceled, or is no longer this process's.
 */
async function sendAgainAfter(ctx: Ctx, job: JobRow, attempt: AttemptRow, waitMs: number): Promise<boolean> {
  const { capacity_rejections: capacityRejections } = attempt;
  if (!(await takeBack({ ...held(job, attempt, ctx.now(), waitMs), capacityRejections }))) return false;
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  return beginSubmission({ ...held(job, attempt, ctx.now(), 0), tier: "standard", now: ctx.now() });
}

async function callProvider(
  ctx: Ctx,
  prepared: Prepared,
  job: JobRow,
  attempt: AttemptRow,
  signal: AbortSignal,
  frames: FrameWriter | null,
  takesAsSaid: boolean,
): Promise<Ended> {
  const { plan } = prepared;
  const work = {
    project: { id: job.project_id, environment: job.environment },
    now: ctx.now,
    capability: plan.capability,
    input: plan.input,
    route: plan.route!,
    call: plan.call!,
    material: plan.material,
    estimate: plan.estimate,
    executionSeconds: job.execution_seconds,
    attemptId: attempt.id,
    tier: "standard" as const,
    signal,
    takesAsSaid,
  };
  failpoint("after-submission-begun");
  for (;;) {
    // Several answers at once have no one text to be told; they are told at their end.
    const isOne = ((work.call as Partial<TextCall>).settings?.choices ?? 1) === 1; // other ports have no settings
    const outcome = frames && isOne ? await streamCall(work, frames.push) : await submitCall(work);
    await frames?.flush(); // what was told is kept, however it ends
    switch (outcome.state) {
      case "succeeded": {
        failpoint("after-answer");
        const now = ctx.now();
        const artifacts = await keepFiles(job, outcome.files, now);
        return {
          outcome: {
            outcome: "succeeded",
            code: null,
            message: null,
            settlement: rowOf(kindOfResult(outcome.observed.costMicros)).settlement,
            finishReason: outcome.finishReason,
          },
          observed: outcome.observed,
          fresh: { output: toOutput(job, outcome.typedOutput, artifacts, now), artifacts },
        };
      }
      case "failed":
        return endedAsFailed(outcome, job, ctx.now());
      case "refused_for_now": {
        const { reason, message, said } = outcome;
        if (reason === "capacity") attempt.capacity_rejections++;
        const waitMs = backoffOf(ctx.now().getTime() - attempt.started_at.getTime(), outcome.retryAfterMs);
        if (ctx.now().getTime() + waitMs > capacityDeadline(job)) {
          await gaveUp(work, outcome, ctx.now());
          const details =
            reason === "capacity" ? { details: { retryAfterSeconds: Math.ceil(waitMs / 1000) } } : {};
          return endedWithout(reason, message, { said, ...details });
        }
        if (!(await sendAgainAfter(ctx, job, attempt, waitMs))) return endedWithout("canceled_unsent", null);
        continue;
      }
      case "aborted": {
        const sent = outcome.submission !== "not_attempted";
        if (outcome.why === "deadline") {
          const message = `The provider did not answer within ${job.execution_seconds} seconds. Use a durable job for longer work.`;
          return endedWithout(sent ? "timed_out" : "timed_out_unsent", message);
        }
        if (outcome.why === "canceled") return endedWithout(sent ? "canceled" : "canceled_unsent", null);
        return sent
          ? endedWithout(
              "lost",
              "The request was sent to the provider, and the wait for its answer was ended.",
            )
          : endedWithout("stopped_unsent", "The process that ran this stopped.");
      }
      case "pending": {
        // The work is the provider's now: its handle stays, for whoever finds out what it cost.
        const { handle, pollAfterMs } = outcome;
        await keepHandle({ ...held(job, attempt, ctx.now(), pollAfterMs), handle, now: ctx.now() });
        const message =
          "The provider accepted the work and will answer later. Use a durable job for this model.";
        return endedWithout("lost", message);
      }
    }
  }
}

/** Success as the wire's InvocationResult; a failure as an error that names the record. */
function toResult(
  job: JobRow,
  ended: Ended,
  warnings: Record<string, unknown>[],
  charge: Charge,
): InvocationResult {
  const { outcome, observed } = ended;
  const receiptId = receiptIdOf(job.id);
  if (outcome.outcome === "failed")
    throw toInvocationFault(
      { ...job, status: "failed", error_code: outcome.code, actual_micros: costOf(ended) },
      outcome.message,
      outcome.details,
      ended.said,
      observed.submission,
    );
  const cost = observed.costMicros === null ? 0 : microsToUsd(observed.costMicros);
  return {
    executionId: job.id,
    status: "succeeded",
    resolvedProvider: job.provider || null,
    resolvedModel: job.model || null,
    externalRef: job.external_ref,
    tags: job.tags,
    metadata: job.metadata,
    typedOutput: ended.fresh?.output ? JSON.parse(ended.fresh.output.content) : null,
    outputPayloadRef: ended.fresh?.output?.id ?? null,
    generatedArtifacts: ended.fresh?.artifacts.map((artifact) => artifact.artifact_id) ?? [],
    usage: {
      inputTokens: observed.usage?.inputTokens ?? null,
      outputTokens: observed.usage?.outputTokens ?? null,
      estimatedCost: microsToUsd(job.pricing.expectedUpstreamMicros),
      actualCost: cost,
      currency: "USD",
    },
    actualCost: cost,
    charge,
    terminationReason: outcome.finishReason ?? "completed",
    receiptId,
    errorCode: null,
    dispatchStatus: "completed",
    warnings: JSON.parse(JSON.stringify(warnings)),
  };
}

/** What the provider's work cost. Null: not known. */
const costOf = ({ outcome, observed }: Ended) =>
  outcome.settlement === "released" ? 0 : observed.costMicros;

/** The error of a synchronous execution: what happened and why, then what to do next. */
function toInvocationFault(
  job: JobRow,
  message: string | null,
  details: Record<string, Json> | undefined,
  said: ProviderSaid | null | undefined,
  submission: SubmissionState,
): Fault {
  const code = job.error_code && isErrorCode(job.error_code) ? job.error_code : "InternalFailure";
  const next = resolutionOf(job, { submission, number: 1 });
  return new Fault(code, `${message ?? "The execution failed."} ${next}`, {
    ...withSaid(details, saidUnasked(job, said)).details,
    executionId: job.id,
    receiptId: receiptIdOf(job.id),
  });
}

const REPLAY_POLL_MS = 100;

/** Answers with the execution that an earlier request began; waits while it runs, at most its own execution limit. */
async function replay(ctx: Ctx, jobId: string): Promise<InvocationResult> {
  const begun = Date.now();
  for (;;) {
    const job = await readJob(jobId);
    if (!job) fail("NotFound", "There is no such execution.");
    if (job.mode === STREAM && job.status !== "succeeded") return toStreaming(job, await readHold(job.id));
    if (TERMINAL.includes(job.status)) return fromRows(job);
    if (Date.now() - begun > (job.execution_seconds + 60) * 1000) {
      await ctx.unkeyed?.answeredEarly?.();
      fail(
        "TRANSPORT_AMBIGUOUS",
        `The first execution of this request is still running. ${nextStepOf(false, "ambiguous")}`,
        {
          executionId: jobId,
          receiptId: receiptIdOf(jobId),
        },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, REPLAY_POLL_MS));
  }
}

async function fromRows(job: JobRow): Promise<InvocationResult> {
  const [attempt, payloads, hold] = await Promise.all([attemptOf(job), payloadsOf(job), readHold(job.id)]);
  if (job.status !== "succeeded") {
    throw toInvocationFault(
      { ...job, error_code: job.error_code ?? "Cancelled" },
      job.error?.message ?? null,
      job.error?.details,
      keptSaid(payloads),
      attempt?.submission ?? "not_attempted",
    );
  }
  const output = payloads.find((payload) => payload.kind === "output");
  const base = endedWithout("canceled_unsent", null, { submission: attempt?.submission ?? "not_attempted" });
  const result = toResult(
    job,
    {
      ...base,
      outcome: {
        outcome: "succeeded",
        code: null,
        message: null,
        settlement: "released",
        finishReason: attempt?.answer?.finishReason ?? null,
      },
      observed: { ...base.observed, usage: attempt?.usage ?? null, costMicros: job.actual_micros },
    },
    job.warnings,
    chargeOfJob(job, hold),
  );
  const typedOutput = parseContent(output);
  const listed =
    typedOutput && typeof typedOutput === "object" && "artifacts" in typedOutput ? typedOutput.artifacts : [];
  const generatedArtifacts = Array.isArray(listed)
    ? listed.flatMap((each) =>
        each && typeof each === "object" && "artifactId" in each && typeof each.artifactId === "string"
          ? [each.artifactId]
          : [],
      )
    : [];
  // Told apart from an execution that answered nothing.
  const warnings = output?.content === null ? [...result.warnings, OUTPUT_REMOVED] : result.warnings;
  return { ...result, typedOutput, outputPayloadRef: output?.id ?? null, generatedArtifacts, warnings };
}
