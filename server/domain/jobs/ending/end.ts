import type { Charge } from "@/server/contract/charge";
import type { AuditRow } from "@/server/domain/audit";
import { ledgerAccount } from "@/server/domain/budgets";
import { SANDBOX } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import {
  booksOf,
  type CallMoney,
  type Ending,
  finishOnce,
  freesKey,
  moneyOf,
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
import { endingOf, freshIn, type Kept, type Next, NOTHING, toAttemptUpdate, warningsOf } from "./ending";
import { toPayload } from "./provider-said";

/**
 * Ends an execution under this worker's lease. `capability` is absent if the request can no longer be read.
 * `known` is the content; null reads what was stored before.
 */
export async function finishLeased(
  {
    ctx,
    work: { job, inputHash, capability },
    row,
    lease: { fence },
  }: Pick<Turn, "ctx"> & {
    work: Pick<LoadedWork, "job"> & Partial<Pick<LoadedWork, "capability">> & { inputHash: string | null };
    row: AttemptRow | null;
    lease: Pick<Turn["lease"], "fence">;
  },
  ending: Ending,
  known: Kept | null = NOTHING,
  from: ("running" | "canceling")[] = ["running", "canceling"],
): Promise<Next> {
  const kept = known ?? (await readKept(job));
  const execute = capability?.execute;
  const engine = execute && "local" in execute ? execute.engine : null;
  const now = ctx.now();
  // A cancel that arrived in the meantime wins: the job ends as canceled, and the cost of the call still
  // counts.
  for (const status of from) {
    const isCanceled = status === "canceling";
    const facts = { job, inputHash, engine, attempt: row, kept, ending, fence, now };
    if (await writeEnding({ ...facts, from: [status], canceled: isCanceled }))
      return { state: "ended", written: { ending, kept, isCanceled } };
  }
  return { state: "ended" };
}

async function readKept(job: JobRow): Promise<Kept> {
  const [artifacts, payloads] = await Promise.all([artifactsOf(job), payloadsOf(job)]);
  return { artifacts, outputHash: payloads.find(({ kind }) => kind === "output")?.sha256 ?? null };
}

/**
 * Ends an execution that no worker holds: it is queued, waits for a person, or was left by its worker. A
 * stored answer settles its call; a call that may have run without an answer stays ambiguous. False if
 * something happened to the job since it was read; nothing was written then.
 */
export async function finishUnleased(
  ctx: Ctx,
  job: JobRow,
  attempt: AttemptRow | null,
  {
    to,
    ...end
  }: Pick<EndingFacts, "ending" | "before" | "audit" | "reapUntil"> & { to: "failed" | "canceled" },
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
    kept,
    from: [job.status],
    fence: job.fence,
    asRead: true,
    canceled: to === "canceled",
    ...end,
    now: ctx.now(),
  });
}

export type EndingFacts = {
  job: JobRow;
  inputHash: string | null;
  engine: string | null;
  attempt: AttemptRow | null;
  ending: Ending;
  kept: Kept;
  /** The job must have one of these statuses and this fence; null matches any fence. */
  from: Finish["from"];
  fence: number | null;
  /** Writes only if nothing happened to the job since it was read; for callers that do not hold its lease. */
  asRead?: boolean;
  canceled: boolean;
  /** Events before the end event, written in the same statement. */
  before?: NewEvent[];
  /** Audit entries of the decision that ends the job. */
  audit?: AuditRow[];
  /** Writes only if the lease was abandoned, and only until this time (`reapsUntil`). */
  reapUntil?: Date;
  now: Date;
};

/**
 * Ends an execution: writes status, receipt, hold, ledger, events and new content in one statement. False if
 * another end came first or the lease is lost.
 */
export async function writeEnding(facts: EndingFacts): Promise<boolean> {
  const { job, attempt, ending, kept, now } = facts;
  const fresh = freshIn(kept);
  const isTest = job.provider === SANDBOX;
  const isPaid = job.pricing.maximumMicros > 0;
  const to = facts.canceled ? "canceled" : ending.state;
  const earlier = await earlierOf(job, attempt);
  const calls = callsOf(earlier, attempt ?? job, ending);
  const money = moneyOf(job.pricing, calls);
  const funding = isPaid ? job.hold_funding : null;
  const payer = ledgerAccount(job.organization_id, funding);
  const books = booksOf(job.pricing, money, payer, `${job.provider}/${job.model}`);
  // Files that the stages stored belong to the job however it ends.
  const artifacts: ArtifactRow[] = job.pricing.stages
    ? [...(await artifactsOf(job)), ...(fresh?.artifacts ?? [])]
    : kept.artifacts;
  const error = errorOf(facts);
  const seal = () =>
    sealReceipt({
      job,
      status: to,
      inputHash: facts.inputHash,
      outputHash: "output" in kept ? (kept.output?.sha256 ?? null) : kept.outputHash,
      provider: job.provider || null,
      model: job.model || null,
      engine: facts.engine,
      estimate: job.pricing,
      completedAt: now,
      artifacts: artifacts.map((row) => toArtifactRef(job.id, row, null)),
      attempt: attempt && toReceiptAttempt(job, attempt, ending, now),
      earlier: earlier.map((row) => toReceiptAttempt(job, row, endingOf(row), now)),
      tier: ending.observed.tier,
      usage: usageOf(calls),
      finishReason: ending.finishReason,
      media: ending.media ?? null,
      error,
      costMicros: books.costMicros,
      isEstimated: isEstimated(ending, earlier),
      charge: chargeOfJob(job, heldFor(job, money)),
      feeMicros: books.feeMicros,
      holdState: books.holdState,
      funding,
      isTest,
    });
  const write = (receipt: Finish["receipt"]) =>
    finish({
      jobId: job.id,
      fence: facts.fence,
      seen_event: facts.asRead ? job.last_event : null,
      from: facts.from,
      to,
      now,
      error_code: error?.code ?? null,
      error: error && ending.details ? { ...error, details: ending.details } : error,
      warnings: warningsOf(ending),
      actual_micros: books.costMicros,
      ...variantsOf(job, to, artifacts),
      receipt,
      hold: books.hold,
      transaction_id: newId("transaction"),
      postings: books.postings,
      is_uncertain: to === "failed" && isUncertain(error?.code, ending.observed.submission),
      attempt: fresh && attempt ? endOfAttempt(attempt, ending, now) : null,
      output: fresh?.output ?? (ending.said ? toPayload(job, ending.said, now) : null),
      artifacts: fresh?.artifacts ?? [],
      audit: facts.audit ?? null,
      frees_key: freesKey(ending) && to === "failed" && job.operation === "invoke",
      reap_until: facts.reapUntil ?? null,
      events: [
        ...(facts.before ?? []),
        ...storedEvents(fresh?.artifacts ?? []),
        endEvent(to, error?.code, artifacts.length),
        sealedEvent(receipt),
      ],
    });
  const tooLate = async () => {
    if (attempt && facts.fence !== null && !facts.asRead)
      await settleLateAnswer(job, attempt.id, ending, now);
  };
  const counted = { mode: job.mode, status: to, code: error?.code ?? null };
  const receipt = await finishOnce({ ...counted, seal, write, tooLate });
  if (receipt) countEnding(job, ending, isPaid && !isTest ? money.exposureMicros : 0);
  return receipt !== null;
}

/** True if at least one cost is our own estimate. */
const isEstimated = (ending: Ending, earlier: AttemptRow[]) =>
  [ending, ...earlier.map(endingOf)].some(({ observed }) => observed.estimated !== undefined);

/** Counts for operators: provider costs that no customer pays, and finish reasons that we do not know. */
function countEnding({ provider, pricing }: JobRow, { unknownFinish }: Ending, exposureMicros: Micros): void {
  if (unknownFinish !== undefined) countUnknownFinish(provider);
  if (pricing.billingMode === "managed") countExposure(provider, exposureMicros);
}

const endOfAttempt = (attempt: AttemptRow, ending: Ending, now: Date) => ({
  ...toAttemptUpdate(attempt.id, ending, attempt.answered_at ?? now, now),
  submission_begun_at: attempt.submission_begun_at,
});

function errorOf({
  ending: { code, message },
  canceled,
}: EndingFacts): { code: string; message: string } | null {
  if (code) return { code, message: message ?? code };
  return canceled ? { code: "Cancelled", message: "The job was canceled." } : null;
}

function endEvent(to: Finish["to"], code: string | undefined, artifactCount: number): NewEvent {
  if (to === "succeeded") return { type: "job.succeeded", payload: { artifactCount } };
  if (to === "failed") return { type: "job.failed", payload: { code: code ?? "failed" } };
  return { type: "job.canceled", payload: { code: code ?? "Cancelled" } };
}

function variantsOf({ requested_variants: requested }: JobRow, to: Finish["to"], artifacts: ArtifactRow[]) {
  const completed =
    to === "succeeded" ? artifacts.filter(({ variant_index }) => variant_index !== null).length : 0;
  const failed = to === "canceled" ? 0 : Math.max(0, (requested ?? 0) - completed);
  return { completed_variants: completed, failed_variants: failed };
}

const sealedEvent = ({ id, hash }: Finish["receipt"]): NewEvent => ({
  type: "job.receipt_sealed",
  payload: { receiptId: id, receiptHash: hash },
});

/**
 * True if the provider may have done work whose result is lost. A repeat of the request then reports the same
 * end.
 */
const isUncertain = (code: string | undefined, submission: AttemptRow["submission"]) =>
  code === "TRANSPORT_AMBIGUOUS" || (code === "ExecutionTimeout" && submission !== "not_attempted");

/** The answered calls before the one that ends the job; empty for the many jobs that make one call. */
async function earlierOf(job: JobRow, attempt: AttemptRow | null): Promise<AttemptRow[]> {
  if (!job.pricing.stages) return [];
  return (await attemptsOf(job)).filter(({ id, answer }) => id !== attempt?.id && answer !== null);
}

const toReceiptAttempt = (
  job: JobRow,
  row: AttemptRow,
  { observed, code, settlement }: Ending,
  now: Date,
) => ({
  attemptId: row.id,
  number: row.number,
  submission: observed.submission,
  providerRequestId: observed.providerRequestId,
  providerModel: observed.providerModel,
  httpStatus: observed.httpStatus,
  errorCode: code,
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
  costMicros: settlement === "released" ? 0 : observed.costMicros,
});

/** The customer's charge for a synchronous execution that ends like this; it makes only one call. */
export const chargeOfCall = (job: JobRow, ending: Ending): Charge =>
  chargeOfJob(job, heldFor(job, moneyOf(job.pricing, callsOf([], job, ending))));

/** The calls of an execution: those that were answered before, then the one that ends it. */
const callsOf = (
  earlier: AttemptRow[],
  { provider }: { provider: string },
  { settlement, observed: { costMicros, usage, estimated } }: Ending,
): CallMoney[] => [
  ...earlier.map((row) => callOf(row, null)),
  { provider, settlement, costMicros, usage, isPartial: estimated === "partial" },
];
