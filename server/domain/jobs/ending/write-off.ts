import { type ExecutionHold, holdsBy, resolve } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { type CallMoney, pollCall, resultOf } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";
import { env } from "@/server/platform/settings/env";
import { HOUR_MS } from "@/server/platform/time/units";
import { pick, text, timestamptz } from "@/server/sql/column";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { type AttemptRow, type JobRow, listAttempts, tierToAsk } from "../rows";
import { readyAgain } from "../running/stages";
import { readJob } from "../running/work";
import { learnedFrom, resolveAfterEnd, settlementOf } from "./after-end";
import { deliveredMicros } from "./delivered";

const LIMIT_DAYS = 30;
const PAGE = 100;
const LONGEST_POLL_MS = 30_000;

type Settings = {
  /** Hours from the end of the execution to the write-off; 0 turns write-offs off. */
  afterHours?: number;
  /** Most that is written off of one organization's live holds in 30 days. */
  limitMicros?: Micros;
  projectId?: string;
};

const listOld = holdsBy(
  "hold.list.write_off",
  { before: timestamptz, after: text, ...pick(SCOPE, "projectId") },
  `hold.state = 'ambiguous' AND hold.billing_mode = 'managed' AND hold.created_at <= $before AND execution.completed_at <= $before
     AND execution.line_id = execution.id AND hold.id > $after AND ${inScope(pick(SCOPE, "projectId"), "hold")}
   ORDER BY hold.id LIMIT ${PAGE}`,
);

/**
 * Ends managed holds that have been ambiguous for `AMBIGUOUS_HOLD_HOURS`. If the provider took the work under
 * a handle, the provider is asked again first; while it reports no end, the hold stays for as many hours
 * again. Known costs are charged: those of the execution's other calls, and text that was delivered. The rest
 * is written off, for live holds up to `WRITE_OFF_LIMIT_MICROS` per organization in 30 days. Holds on
 * customers' own accounts wait for a person, and those of a comparison wait until it is judged. Safe to run
 * in every process at once.
 */
export async function writeOff(
  ctx: Ctx,
  {
    afterHours = env.AMBIGUOUS_HOLD_HOURS,
    limitMicros = env.WRITE_OFF_LIMIT_MICROS,
    projectId,
  }: Settings = {},
): Promise<void> {
  if (afterHours === 0) return;
  const now = ctx.now().getTime();
  const before = (hours: number) => new Date(now - hours * HOUR_MS);
  const limit = { micros: limitMicros, since: before(24 * LIMIT_DAYS) };
  let after = "";
  for (;;) {
    const holds = await listOld.all(pool, {
      before: before(afterHours),
      after,
      projectId: projectId ?? null,
    });
    for (const hold of holds) {
      // A hold that fails must not keep the others waiting; the next pass tries it again.
      await endHold(ctx, hold, { limit, stopAsking: before(2 * afterHours) }).catch((err) =>
        ctx.log.error({ err, holdId: hold.id }, "an ambiguous hold could not be written off"),
      );
    }
    const last = holds.at(-1);
    if (!last || holds.length < PAGE) return;
    after = last.id;
  }
}

async function endHold(
  ctx: Ctx,
  hold: ExecutionHold,
  { limit, stopAsking }: { limit: { micros: Micros; since: Date }; stopAsking: Date },
): Promise<void> {
  const how = { by: "written_off", limit } as const;
  const job = await readJob(hold.execution_id);
  if (!job) {
    await resolve(ctx, hold, { ...how, upstream: [], feeMicros: 0, note: null });
    return;
  }
  const unknown = (await listAttempts(job)).find((row) => settlementOf(row) === "ambiguous");
  if (unknown && unknown.handle !== null) {
    const found = await askAgain(ctx, job, unknown);
    if (found === "running" && job.completed_at && job.completed_at > stopAsking) return;
    if (found !== null && found !== "running") {
      await resolveAfterEnd(ctx, job, hold, { learned: found, how: { by: "asked_again" } });
      return;
    }
  }
  const costMicros = unknown ? await deliveredMicros(job, unknown) : 0;
  const delivered: CallMoney | null =
    unknown && costMicros > 0
      ? { attemptId: unknown.id, provider: unknown.provider, settlement: "cost", costMicros, usage: null }
      : null;
  await resolveAfterEnd(ctx, job, hold, { learned: delivered, how });
}

/**
 * Asks the provider about work that it took. Null if the cost stays unknown, or if the provider can no longer
 * be asked.
 */
async function askAgain(ctx: Ctx, job: JobRow, row: AttemptRow): Promise<CallMoney | "running" | null> {
  const ready = await readyAgain(job, row);
  if (!ready) return null;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort("deadline"), LONGEST_POLL_MS);
  try {
    const call = {
      ...ready,
      now: ctx.now,
      project: { id: job.project_id, environment: job.environment },
      estimate: ready.stage?.estimate ?? job.pricing,
      executionSeconds: job.execution_seconds,
      executionId: job.id,
      attemptId: row.id,
      tier: tierToAsk(job, row),
      signal: stop.signal,
    };
    const outcome = await pollCall(call, row.handle);
    if (outcome.state !== "succeeded" && outcome.state !== "failed") return "running";
    return learnedFrom(row, outcome.state === "failed" ? outcome : resultOf(outcome));
  } finally {
    clearTimeout(timer);
  }
}
