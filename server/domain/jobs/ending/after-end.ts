import { type ExecutionHold, exposureOf, readAmbiguous, resolve } from "@/server/domain/budgets";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { type CallMoney, type Ending, moneyOf } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { countExposure } from "@/server/platform/log/metrics";
import { type AttemptRow, attemptsOf, type JobRow } from "../rows";

/** What became known of one call after the end of its job. */
export type Learned = { attemptId: string } & Pick<
  CallMoney,
  "settlement" | "costMicros" | "usage" | "isPartial"
>;

/**
 * Ends the ambiguous hold of a job by what became known of one of its calls: it settles at that and the known costs of the
 * other calls, a managed one at most at its amount. What stays unknown costs nothing where the hold is written off, and keeps
 * it otherwise. False: nothing was written.
 */
export async function resolveAfterEnd(
  ctx: Ctx,
  job: JobRow,
  hold: ExecutionHold,
  { learned, how }: { learned: Learned | null; how: Pick<Parameters<typeof resolve>[2], "by" | "limit"> },
): Promise<boolean> {
  const calls = (await attemptsOf(job)).map((row) => callOf(row, learned));
  const money = moneyOf(job.pricing, how.by === "written_off" ? calls.map(withoutUnknown) : calls);
  if (money.hold === "ambiguous") return false;
  const { upstream, feeMicros } = money;
  const exposure = exposureOf(`${job.provider}/${job.model}`, money.exposureMicros);
  if (!(await resolve(ctx, hold, { ...how, upstream, feeMicros, exposure, note: null }))) return false;
  if (!hold.is_test) countExposure(job.provider, money.exposureMicros);
  return true;
}

const withoutUnknown = (call: CallMoney): CallMoney =>
  call.settlement === "ambiguous" ? { ...call, settlement: "released" } : call;

/** The outcome of one call of a job, from its row or from what became known later. */
export function callOf(row: AttemptRow, learned: Learned | null): CallMoney {
  const { provider, cost_micros: costMicros, usage } = row;
  if (row.id === learned?.attemptId) return { provider, ...learned };
  return {
    provider,
    settlement: settlementOf(row),
    costMicros,
    usage,
    isPartial: row.answer?.estimated === "partial",
  };
}

/** How the money of a call of an ended job ended; what left and was never answered stays ambiguous. */
export const settlementOf = ({ answer, submission }: AttemptRow): CallMoney["settlement"] =>
  answer?.settlement ?? (submission === "not_attempted" ? "released" : "ambiguous");

/** The end of a call as far as it says what is owed; null: its cost is unknown, and no one received its result. */
export function learnedFrom(
  attemptId: string,
  { settlement, observed }: Pick<Ending, "settlement" | "observed">,
): Learned | null {
  if (settlement === "ambiguous" || settlement === "hold") return null;
  const { costMicros, usage, estimated } = observed;
  return { attemptId, settlement, costMicros, usage, isPartial: estimated === "partial" };
}

/**
 * The answer of a worker that had lost its lease, after another one ended the job: the receipt stays, and the ambiguous hold of
 * a managed job settles at what the answer reports. Its content is not kept. A hold of the customer's own account waits for a
 * person. Nothing happens where the job has not ended.
 */
export async function settleLateAnswer(
  job: JobRow,
  attemptId: string,
  answer: Ending,
  now: Date,
): Promise<void> {
  const learned = learnedFrom(attemptId, answer);
  if (!learned || job.pricing.billingMode !== "managed") return;
  const hold = await readAmbiguous.first(pool, { executionId: job.id });
  const ctx = systemCtx("late-answer", () => now);
  if (hold && (await resolveAfterEnd(ctx, job, hold, { learned, how: { by: "late_answer" } })))
    ctx.log.info({ jobId: job.id, holdId: hold.id }, "a late answer settled an ambiguous hold");
}
