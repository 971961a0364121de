import { type ExecutionHold, exposureOf, readAmbiguous, resolve } from "@/server/domain/budgets";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { type CallMoney, callMoneyOf, type Ending, moneyOf } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { countExposure } from "@/server/platform/log/metrics";
import { type AttemptRow, type JobRow, listAttempts } from "../rows";

/**
 * Resolves the ambiguous hold of an ended job from what was learned about one call and the money of its other
 * calls; managed billing charges at most the hold. Calls whose outcome stays unknown cost nothing in a
 * write-off; otherwise they keep the hold ambiguous. False if nothing was written.
 */
export async function resolveAfterEnd(
  ctx: Ctx,
  job: JobRow,
  hold: ExecutionHold,
  { learned, how }: { learned: CallMoney | null; how: Pick<Parameters<typeof resolve>[2], "by" | "limit"> },
): Promise<boolean> {
  const calls = (await listAttempts(job)).map((row) => callOf(row, learned));
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

/** The money of one call: from `learned` if that is about this call, else from the call's row. */
export function callOf(row: AttemptRow, learned: CallMoney | null): CallMoney {
  const { provider, cost_micros: costMicros, usage } = row;
  if (row.id === learned?.attemptId) return learned;
  return {
    provider,
    settlement: settlementOf(row),
    costMicros,
    usage,
    isPartial: row.answer?.estimated === "partial",
  };
}

/** Settlement of a call of an ended job; ambiguous if it may have been sent and was never answered. */
export const settlementOf = ({ answer, submission }: AttemptRow): CallMoney["settlement"] =>
  answer?.settlement ?? (submission === "not_attempted" ? "released" : "ambiguous");

/**
 * The money of an ending that arrived late. Null if its cost is unknown: no one received its result, so the
 * hold must not be charged for it.
 */
export function learnedFrom({ id: attemptId, provider }: AttemptRow, ending: Ending): CallMoney | null {
  if (ending.settlement === "ambiguous" || ending.settlement === "hold") return null;
  return { attemptId, ...callMoneyOf(provider, ending) };
}

/**
 * Handles an answer that arrives after another worker ended the job: the receipt stays, the content is not
 * kept, and the ambiguous hold of a managed job is settled or released as the answer says. A hold on the
 * customer's own account waits for a person. Does nothing while the job has not ended, because its hold is
 * not ambiguous then.
 */
export async function settleLateAnswer(
  job: JobRow,
  attempt: AttemptRow,
  answer: Ending,
  now: Date,
): Promise<void> {
  const learned = learnedFrom(attempt, answer);
  if (!learned || job.pricing.billingMode !== "managed") return;
  const hold = await readAmbiguous.first(pool, { executionId: job.id });
  const ctx = systemCtx("late-answer", () => now);
  if (hold && (await resolveAfterEnd(ctx, job, hold, { learned, how: { by: "late_answer" } })))
    ctx.log.info({ jobId: job.id, holdId: hold.id }, "a late answer settled an ambiguous hold");
}
