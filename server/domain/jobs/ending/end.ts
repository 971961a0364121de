import type { Charge } from "@/server/contract/charge";
import type { AuditRow } from "@/server/domain/audit";
import { accountOf } from "@/server/domain/budgets";
import { SANDBOX } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import {
  booksOf,
  type CallMoney,
  finishOnce,
  moneyOf,
  type Observed,
  usageOf,
} from "@/server/domain/executions";
import { sealReceipt } from "@/server/domain/receipts";
import { newId } from "@/server/platform/ids";
import { countExposure, countUnknownFinish } from "@/server/platform/log/metrics";
import type { Micros } from "@/server/platform/money";
import { chargeOfJob, heldFor, toArtifactRef } from "../reading/view";
import {
  type ArtifactRow,
  type AttemptRow,
  artifactsOf,
  attemptsOf,
  type JobRow,
  payloadsOf,
  tierToAsk,
} from "../rows";
import { storedEvents } from "../running/output";
import { type LoadedWork, storedInputHash, type Turn } from "../running/work";
import { type Finish, finish } from "../transitions/finish";
import type { NewEvent } from "../transitions/moves";
import { callOf, settleLateAnswer } from "./after-end";
import {
  type Ended,
  endedBefore,
  endedWithout,
  type Kept,
  type Next,
  toAttemptUpdate,
  warningsOf,
} from "./ended";
import { toPayload } from "./provider-said";

/** What an end needs of a turn. `capability` is absent where the request can no longer be read. */
type Ending = Pick<Turn, "ctx"> & {
  work: Pick<LoadedWork, "job"> & Partial<Pick<LoadedWork, "capability">> & { inputHash: string | null };
  row: AttemptRow | null;
  lease: Pick<Turn["lease"], "fence">;
};

/** Ends an execution that this worker holds, with the outcome of its call. */
export async function finishLeased(
  { ctx, work: { job, inputHash, capability }, row, lease: { fence } }: Ending,
  ended: Ended,
  from: ("running" | "canceling")[] = ["running", "canceling"],
): Promise<Next> {
  const kept = ended.fresh === null ? (ended.kept ?? (await readKept(job))) : NOTHING;
  const execute = capability?.execute;
  const engine = execute && "local" in execute ? execute.engine : null;
  const now = ctx.now();
  // A cancel that came meanwhile has the last word; the cost stays.
  for (const status of from) {
    const isCanceled = status === "canceling";
    const conclusion = { job, inputHash, engine, attempt: row, ...kept, ended, fence, now };
    if (await writeEnding({ ...conclusion, from: [status], canceled: isCanceled }))
      return { state: "ended", ended, isCanceled };
  }
  return { state: "ended" };
}

const NOTHING: Kept = { artifacts: [], outputHash: null };

async function readKept(job: JobRow): Promise<Kept> {
  const [artifacts, payloads] = await Promise.all([artifactsOf(job), payloadsOf(job)]);
  return { artifacts, outputHash: payloads.find(({ kind }) => kind === "output")?.sha256 ?? null };
}

/** Ends an execution that is to be canceled: what may have left stays ambiguous. */
export function cancelNow(turn: Turn): Promise<Next> {
  const { submission } = turn.row;
  const kind = submission === "not_attempted" ? "canceled_unsent" : "canceled";
  return finishLeased(turn, endedWithout(kind, null, { submission }), ["canceling"]);
}

/** How an execution that no worker holds ends. */
export type UnleasedEnd = {
  to: "failed" | "canceled";
  code: string | null;
  message: string | null;
  before?: NewEvent[];
  /** The decision that ends it. */
  audit?: AuditRow[];
  /** Only while its owner is gone, and the pass that says so may (`reapsUntil`). */
  reapUntil?: Date;
};

/**
 * Ends an execution that no worker holds: in a queue, before a person, or left by its worker. What the provider did before
 * is settled as it answered; what may have run without an answer stays ambiguous. False: something happened to the job
 * since it was read; nothing was written.
 */
export async function finishUnleased(
  ctx: Ctx,
  job: JobRow,
  attempt: AttemptRow | null,
  end: UnleasedEnd,
): Promise<boolean> {
  const [inputHash, kept] = await Promise.all([
    storedInputHash(job.id),
    attempt?.answer ? readKept(job) : NOTHING,
  ]);
  return writeEnding({
    job,
    inputHash,
    engine: null,
    attempt,
    ...kept,
    ended: endedAsFound(attempt, end),
    from: [job.status],
    fence: job.fence,
    asRead: true,
    canceled: end.to === "canceled",
    ...(end.before ? { before: end.before } : {}),
    ...(end.audit ? { audit: end.audit } : {}),
    ...(end.reapUntil ? { reapUntil: end.reapUntil } : {}),
    now: ctx.now(),
  });
}

/** The end of what is found: charged as it was answered, else by whether its request may have left. */
export function endedAsFound(
  attempt: AttemptRow | null,
  { code, message }: Pick<UnleasedEnd, "code" | "message">,
): Ended {
  const submission = attempt?.submission ?? "not_attempted";
  if (attempt?.answer) {
    const before = endedBefore(attempt);
    return { ...before, outcome: { ...before.outcome, outcome: "failed", code, message } };
  }
  const kind = submission === "not_attempted" ? "stopped_unsent" : "lost";
  return endedWithout(kind, message, { code, submission });
}

export type EndingFacts = {
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
  /** Only if nothing has happened to the job since it was read: for callers that do not hold its lease. */
  asRead?: boolean;
  canceled: boolean;
  /** The event before the end, in the same statement. */
  before?: NewEvent[];
  audit?: AuditRow[];
  reapUntil?: Date;
  now: Date;
};

/**
 * Ends an execution: status, receipt, hold, ledger and events in one statement. False: another end came first.
 * `ended.fresh` is stored by the same statement.
 */
export async function writeEnding(conclusion: EndingFacts): Promise<boolean> {
  const { job, attempt, ended, now } = conclusion;
  const { outcome, observed } = ended;
  const isTest = job.provider === SANDBOX;
  const isPaid = job.pricing.maximumMicros > 0;
  const to = conclusion.canceled ? "canceled" : outcome.outcome;
  const earlier = await earlierOf(job, attempt);
  const calls = callsOf(earlier, attempt ?? job, ended);
  const money = moneyOf(job.pricing, calls);
  const funding = isPaid ? job.hold_funding : null;
  const payer = accountOf(job.organization_id, funding);
  const books = booksOf(job.pricing, money, payer, `${job.provider}/${job.model}`);
  // What the stages kept is there however it ends.
  const before = job.pricing.stages ? await artifactsOf(job) : conclusion.artifacts;
  const artifacts: ArtifactRow[] = [...before, ...(ended.fresh?.artifacts ?? [])];
  const error = errorOf(conclusion);
  const seal = () =>
    sealReceipt({
      job,
      status: to,
      inputHash: conclusion.inputHash,
      outputHash: ended.fresh?.output?.sha256 ?? conclusion.outputHash,
      provider: job.provider || null,
      model: job.model || null,
      engine: conclusion.engine,
      estimate: job.pricing,
      completedAt: now,
      artifacts: artifacts.map((row) => toArtifactRef(job.id, row, null)),
      attempt: attempt && toReceiptAttempt(job, attempt, ended, now),
      earlier: earlier.map((row) => toReceiptAttempt(job, row, endedBefore(row), now)),
      tier: observed.tier,
      usage: usageOf(calls),
      finishReason: outcome.finishReason,
      media: outcome.media ?? null,
      error,
      costMicros: books.costMicros,
      isEstimated: isEstimated(ended, earlier),
      charge: chargeOfJob(job, heldFor(job, money)),
      feeMicros: books.feeMicros,
      holdState: books.holdState,
      funding,
      isTest,
    });
  const succeeded =
    to === "succeeded" ? artifacts.filter((artifact) => artifact.variant_index !== null).length : 0;
  const write = (receipt: Finish["receipt"]) =>
    finish({
      jobId: job.id,
      fence: conclusion.fence,
      seen_event: conclusion.asRead ? job.last_event : null,
      from: conclusion.from,
      to,
      now,
      error_code: error?.code ?? null,
      error: error && outcome.details ? { ...error, details: outcome.details } : error,
      warnings: warningsOf(outcome),
      actual_micros: books.costMicros,
      completed_variants: succeeded,
      failed_variants: to === "canceled" ? 0 : Math.max(0, (job.requested_variants ?? 0) - succeeded),
      receipt,
      hold: books.hold,
      transaction_id: newId("transaction"),
      postings: books.postings,
      is_uncertain: to === "failed" && isUncertain(error?.code, observed.submission),
      attempt: ended.fresh && attempt ? endOfAttempt(attempt, ended, now) : null,
      output: ended.fresh?.output ?? (ended.said ? toPayload(job, ended.said, now) : null),
      artifacts: ended.fresh?.artifacts ?? [],
      audit: conclusion.audit ?? null,
      frees_key: Boolean(ended.freesKey) && to === "failed" && job.operation === "invoke",
      reap_until: conclusion.reapUntil ?? null,
      events: [
        ...(conclusion.before ?? []),
        ...storedEvents(ended.fresh?.artifacts ?? []),
        endEvent(to, error?.code, artifacts.length),
        { type: "job.receipt_sealed", payload: { receiptId: receipt.id, receiptHash: receipt.hash } },
      ],
    });
  const tooLate = async () => {
    if (attempt && conclusion.fence !== null && !conclusion.asRead)
      await settleLateAnswer(job, attempt.id, ended, now);
  };
  const code = error?.code ?? null;
  const receipt = await finishOnce({ mode: job.mode, status: to, code, seal, write, tooLate });
  if (receipt) countEnding(job, outcome, isPaid && !isTest ? money.exposureMicros : 0);
  return receipt !== null;
}

/** Is one of the costs an estimate of ours? */
const isEstimated = (ended: Ended, earlier: AttemptRow[]) =>
  [ended, ...earlier.map(endedBefore)].some(({ observed }) => observed.estimated !== undefined);

/** Counts what operators watch: what no customer pays for, and answers whose end is not known here. */
function countEnding(
  { provider, pricing }: JobRow,
  { unknownFinish }: Ended["outcome"],
  exposureMicros: Micros,
): void {
  if (unknownFinish !== undefined) countUnknownFinish(provider);
  if (pricing.billingMode === "managed") countExposure(provider, exposureMicros);
}

const endOfAttempt = (attempt: AttemptRow, ended: Ended, now: Date) => ({
  ...toAttemptUpdate(attempt.id, ended, attempt.answered_at ?? now, now),
  submission_begun_at: attempt.submission_begun_at,
});

function errorOf({ ended: { outcome }, canceled }: EndingFacts): { code: string; message: string } | null {
  if (outcome.code) return { code: outcome.code, message: outcome.message ?? outcome.code };
  return canceled ? { code: "Cancelled", message: "The job was canceled." } : null;
}

function endEvent(to: Finish["to"], code: string | undefined, artifactCount: number): NewEvent {
  if (to === "succeeded") return { type: "job.succeeded", payload: { artifactCount } };
  if (to === "failed") return { type: "job.failed", payload: { code: code ?? "failed" } };
  return { type: "job.canceled", payload: { code: code ?? "Cancelled" } };
}

/** May the provider have done the work whose result is lost? Then a repeat of the request reports the same. */
const isUncertain = (code: string | undefined, submission: Observed["submission"]) =>
  code === "TRANSPORT_AMBIGUOUS" || (code === "ExecutionTimeout" && submission !== "not_attempted");

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

/** What the customer pays for a synchronous call, which is one call to a provider and ends like this. */
export const chargeOfCall = (job: JobRow, ended: Ended): Charge =>
  chargeOfJob(job, heldFor(job, moneyOf(job.pricing, callsOf([], job, ended))));

/** The calls of an execution: those that were answered before, and the one it ends with. */
const callsOf = (
  earlier: AttemptRow[],
  { provider }: { provider: string },
  {
    outcome: { settlement },
    observed: { costMicros, usage, estimated },
  }: Pick<Ended, "outcome" | "observed">,
): CallMoney[] => [
  ...earlier.map((row) => callOf(row, null)),
  { provider, settlement, costMicros, usage, isPartial: estimated === "partial" },
];
