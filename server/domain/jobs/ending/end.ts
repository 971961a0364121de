import type { Charge } from "@/server/contract/charge";
import type { JobStatus } from "@/server/contract/jobs";
import type { AuditRow } from "@/server/domain/audit";
import { ledgerAccount } from "@/server/domain/budgets";
import { SANDBOX } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import {
  booksOf,
  type CallMoney,
  callMoneyOf,
  type Ending,
  freesKey,
  isCancel,
  moneyOf,
  usageOf,
} from "@/server/domain/executions";
import { sealReceipt } from "@/server/domain/receipts";
import { newId } from "@/server/platform/ids";
import { countExposure, countUnknownFinish } from "@/server/platform/log/metrics";
import { chargeOfJob, heldFor, toArtifactRef } from "../reading/view";
import {
  type ArtifactRow,
  type AttemptRow,
  artifactsOf,
  type JobRow,
  listAttempts,
  payloadsOf,
  tierToAsk,
} from "../rows";
import { storedEvents, toOutput } from "../running/output";
import { type JobTurn, type LoadedWork, storedInputHash } from "../running/work";
import { finishJob, type JobFinish } from "../transitions/finish";
import type { NewEvent } from "../transitions/moves";
import { callOf, settleLateAnswer } from "./after-end";
import { endingOf, freshIn, type Kept, NOTHING, toAttemptUpdate, warningsOf } from "./ending";
import { toPayload } from "./provider-said";

/** The terms on which the end of a job may be written, besides its ending. */
type Terms = {
  job: JobRow;
  inputHash: string | null;
  engine: string | null;
  attempt: AttemptRow | null;
  kept: Kept;
  /** The job must have this status and this fence. */
  from: JobStatus;
  fence: number;
  /** Writes only if nothing happened to the job since it was read; for callers that do not hold its lease. */
  asRead?: boolean;
  isCanceled: boolean;
  /** Events before the end event, written in the same statement. */
  before?: NewEvent[];
  /** Audit entries of the decision that ends the job. */
  audit?: AuditRow[];
  /** Writes only if the lease was abandoned, and only until this time (`reapsUntil`). */
  reapUntil?: Date;
  now: Date;
};

/**
 * The statements for the end of an execution under this worker's lease. `capability` is absent if the request
 * can no longer be read. `kept` is the content; null reads what was stored before, and without it only the
 * beginning of a cut-off answer is stored. A cancel that arrived in the meantime wins: the job ends as
 * canceled, and the cost of the call still counts.
 */
export function leased(
  {
    ctx,
    work: { job, inputHash, capability },
    row,
    lease: { fence },
  }: Pick<JobTurn, "ctx"> & {
    work: Pick<LoadedWork, "job"> & Partial<Pick<LoadedWork, "capability">> & { inputHash: string | null };
    row: AttemptRow | null;
    lease: Pick<JobTurn["lease"], "fence">;
  },
  { kept, from }: { kept?: Kept | null; from?: ("running" | "canceling")[] } = {},
) {
  const execute = capability?.execute;
  const engine = execute && "local" in execute ? execute.engine : null;
  async function* ends(ending: Ending) {
    const content = kept === undefined ? partOf(job, ending, ctx.now()) : (kept ?? (await readKept(job)));
    const terms = { job, inputHash, engine, attempt: row, kept: content, fence, now: ctx.now() };
    for (const status of from ?? (isCancel(ending) ? CANCELING : ["running", ...CANCELING]))
      yield prepare({ ...terms, from: status, isCanceled: status === "canceling" }, ending);
  }
  return { ends, ...WRITING };
}

const CANCELING = ["canceling" as const];

/** The content of an ending whose answer was cut off. */
function partOf(job: JobRow, { partial }: Ending, now: Date): Kept {
  return partial ? { output: toOutput(job, partial, [], now), artifacts: [] } : NOTHING;
}

async function readKept(job: JobRow): Promise<Kept> {
  const [artifacts, payloads] = await Promise.all([artifactsOf(job), payloadsOf(job)]);
  return { artifacts, outputHash: payloads.find(({ kind }) => kind === "output")?.sha256 ?? null };
}

/**
 * The statements for the end of an execution that no worker holds: it is queued, waits for a person, or was
 * left by its worker. A stored answer settles its call; a call that may have run without an answer stays
 * ambiguous. Nothing is written if something happened to the job since it was read.
 */
export function unleased(
  ctx: Ctx,
  job: JobRow,
  attempt: AttemptRow | null,
  {
    kept: known = attempt?.answer ? null : NOTHING,
    ...more
  }: Pick<Terms, "isCanceled" | "before" | "audit" | "reapUntil"> & { kept?: Kept | null },
) {
  async function* ends(ending: Ending) {
    const [inputHash, kept] = await Promise.all([storedInputHash(job.id), known ?? readKept(job)]);
    const read = { job, inputHash, engine: null, attempt, kept, from: job.status, fence: job.fence };
    yield prepare({ ...read, asRead: true, ...more, now: ctx.now() }, ending);
  }
  return { ends, ...WRITING };
}

/** The end of a job as it is written, with its calls, its money and its error. */
export type JobEnd = Awaited<ReturnType<typeof prepare>>;

async function prepare(terms: Terms, ending: Ending) {
  const { job, attempt, kept } = terms;
  const isPaid = job.pricing.maximumMicros > 0;
  const status: JobFinish["to"] = terms.isCanceled ? "canceled" : ending.state;
  const earlier = await earlierOf(job, attempt);
  const calls = callsOf(earlier, attempt ?? job, ending);
  const money = moneyOf(job.pricing, calls);
  const funding = isPaid ? job.hold_funding : null;
  const payer = ledgerAccount(job.organization_id, funding);
  const books = booksOf(job.pricing, money, payer, `${job.provider}/${job.model}`);
  const fresh = freshIn(kept);
  // Files that the stages stored belong to the job however it ends.
  const artifacts: ArtifactRow[] = job.pricing.stages
    ? [...(await artifactsOf(job)), ...(fresh?.artifacts ?? [])]
    : kept.artifacts;
  const error = errorOf(ending, terms.isCanceled);
  const counted = { mode: job.mode, status, code: error?.code ?? null };
  return {
    ...terms,
    ...counted,
    ending,
    isPaid,
    earlier,
    calls,
    money,
    funding,
    books,
    artifacts,
    fresh,
    error,
  };
}

const seal = async (end: JobEnd) => ({ ...end, receipt: await sealReceipt(toReceiptFacts(end)) });

function toReceiptFacts(end: JobEnd): Parameters<typeof sealReceipt>[0] {
  const { job, attempt, ending, kept, earlier, money, books, now } = end;
  return {
    job,
    status: end.status,
    inputHash: end.inputHash,
    outputHash: "output" in kept ? (kept.output?.sha256 ?? null) : kept.outputHash,
    provider: job.provider || null,
    model: job.model || null,
    engine: end.engine,
    estimate: job.pricing,
    completedAt: now,
    artifacts: end.artifacts.map((row) => toArtifactRef(job.id, row, null)),
    attempt: attempt && toReceiptAttempt(job, attempt, ending, now),
    earlier: earlier.map((row) => toReceiptAttempt(job, row, endingOf(row), now)),
    tier: ending.observed.tier,
    usage: usageOf(end.calls),
    finishReason: ending.finishReason,
    media: ending.media ?? null,
    error: end.error,
    costMicros: books.costMicros,
    isEstimated: isEstimated(ending, earlier),
    charge: chargeOfJob(job, heldFor(job, money)),
    feeMicros: books.feeMicros,
    holdState: books.holdState,
    funding: end.funding,
    isTest: isTest(job),
  };
}

const isTest = ({ provider }: JobRow) => provider === SANDBOX;

/** Writes status, receipt, hold, ledger, events and new content in one statement. */
async function write(end: Awaited<ReturnType<typeof seal>>): Promise<boolean> {
  const { job, attempt, ending, artifacts, books, error, fresh, receipt, status, now } = end;
  const isWritten = await finishJob({
    jobId: job.id,
    fence: end.fence,
    seen_event: end.asRead ? job.last_event : null,
    from: [end.from],
    to: status,
    now,
    error_code: end.code,
    error: error && ending.details ? { ...error, details: ending.details } : error,
    warnings: warningsOf(ending),
    actual_micros: books.costMicros,
    ...variantsOf(job, status, artifacts),
    receipt,
    hold: books.hold,
    transaction_id: newId("transaction"),
    postings: books.postings,
    is_uncertain: status === "failed" && isUncertain(error?.code, ending.observed.submission),
    attempt: fresh && attempt ? endOfAttempt(attempt, ending, now) : null,
    output: fresh?.output ?? (ending.said ? toPayload(job, ending.said, now) : null),
    artifacts: fresh?.artifacts ?? [],
    audit: end.audit ?? null,
    frees_key: freesKey(ending) && status === "failed" && job.operation === "invoke",
    reap_until: end.reapUntil ?? null,
    events: [
      ...(end.before ?? []),
      ...storedEvents(fresh?.artifacts ?? []),
      endEvent(status, error?.code, artifacts.length),
      sealedEvent(receipt),
    ],
  });
  if (isWritten) countEnding(end);
  return isWritten;
}

async function late({ job, attempt, asRead, ending, now }: JobEnd): Promise<void> {
  if (attempt && !asRead) await settleLateAnswer(job, attempt, ending, now);
}

const WRITING = { seal, finish: write, late };

/** True if at least one cost is our own estimate. */
const isEstimated = (ending: Ending, earlier: AttemptRow[]) =>
  [ending, ...earlier.map(endingOf)].some(({ observed }) => observed.estimated !== undefined);

/** Counts for operators: provider costs that no customer pays, and finish reasons that we do not know. */
function countEnding({ job, ending, isPaid, money }: JobEnd): void {
  if (ending.unknownFinish !== undefined) countUnknownFinish(job.provider);
  if (job.pricing.billingMode === "managed")
    countExposure(job.provider, isPaid && !isTest(job) ? money.exposureMicros : 0);
}

const endOfAttempt = (attempt: AttemptRow, ending: Ending, now: Date) => ({
  ...toAttemptUpdate(attempt.id, ending, attempt.answered_at ?? now, now),
  submission_begun_at: attempt.submission_begun_at,
});

function errorOf({ code, message }: Ending, isCanceled: boolean): { code: string; message: string } | null {
  if (code) return { code, message: message ?? code };
  return isCanceled ? { code: "Cancelled", message: "The job was canceled." } : null;
}

function endEvent(to: JobFinish["to"], code: string | undefined, artifactCount: number): NewEvent {
  if (to === "succeeded") return { type: "job.succeeded", payload: { artifactCount } };
  if (to === "failed") return { type: "job.failed", payload: { code: code ?? "failed" } };
  return { type: "job.canceled", payload: { code: code ?? "Cancelled" } };
}

function variantsOf(
  { requested_variants: requested }: JobRow,
  to: JobFinish["to"],
  artifacts: ArtifactRow[],
) {
  const completed =
    to === "succeeded" ? artifacts.filter(({ variant_index }) => variant_index !== null).length : 0;
  const failed = to === "canceled" ? 0 : Math.max(0, (requested ?? 0) - completed);
  return { completed_variants: completed, failed_variants: failed };
}

const sealedEvent = ({ id, hash }: JobFinish["receipt"]): NewEvent => ({
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
  return (await listAttempts(job)).filter(({ id, answer }) => id !== attempt?.id && answer !== null);
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
const callsOf = (earlier: AttemptRow[], { provider }: { provider: string }, ending: Ending): CallMoney[] => [
  ...earlier.map((row) => callOf(row, null)),
  callMoneyOf(provider, ending),
];
