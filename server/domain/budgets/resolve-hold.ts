import type { HoldView, ResolveHold } from "@/server/contract/budgets";
import { access, isOperator, roleIn } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { job, pinnedHold } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { PREFIXES } from "@/server/platform/ids";
import type { Micros } from "@/server/platform/money";
import { present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { toHold } from "./holds";
import { type ExecutionHold, type LateCharge, readHold, resolve } from "./resolve";

/**
 * Ends an ambiguous hold with the total charge that a person found, or with none. For owners and operators,
 * never for a key, and only after its comparison is judged; only an operator resolves a managed live hold below
 * its amount. The sealed receipt stays unchanged: budgets, wallet and ledger are updated, and a pinned record
 * gets a correction. Throws HoldNotAmbiguous if the hold is in any other state.
 */
export async function resolveHold(ctx: Ctx, holdId: string, found: ResolveHold): Promise<HoldView> {
  const hold = await find(ctx, holdId);
  const foundMicros = found.chargedMicros ?? 0;
  if (!mayResolve(ctx, hold, foundMicros))
    fail(
      "AuthorizationFailed",
      "Only an operator can resolve a live hold on the operator's account below its amount. Ask the operator of this installation.",
    );
  const after = await resolve(ctx, hold, foundBy(hold, foundMicros, found.note));
  // Null means that another resolution came first.
  return after ? toHold(after) : notAmbiguous((await find(ctx, holdId)).state);
}

/** True if the caller, an owner or operator, may set this charge. */
export const mayResolve = (ctx: Ctx, hold: ExecutionHold, foundMicros: Micros): boolean =>
  isOperator(ctx) || hold.billing_mode !== "managed" || hold.is_test || foundMicros >= hold.amount_micros;

/** Splits a total that a person found into provider cost and fee, at the fee rate of the estimate. */
export function foundBy(hold: ExecutionHold, foundMicros: Micros, note: string): LateCharge {
  const upstream = Math.round((foundMicros * 10_000) / (10_000 + (hold.fee_bps ?? 0)));
  const fee = foundMicros - upstream;
  // The operator takes no fee on an amount that the customer does not pay.
  const isManaged = hold.billing_mode === "managed";
  return {
    by: "person",
    upstream: [[hold.provider ?? "unknown", upstream]],
    feeMicros: isManaged ? Math.min(fee, Math.max(0, hold.amount_micros - upstream)) : fee,
    note,
  };
}

const readExecution = statement("pinned_hold.read.execution", {
  params: { holdId: text },
  row: { id: pinnedHold.execution_id },
  sql: `SELECT execution_id AS id FROM pinned_hold WHERE id = $holdId`,
});

async function find(ctx: Ctx, holdId: string): Promise<ExecutionHold> {
  const ulid = holdId.slice(-26);
  await refuseUnjudged(ctx, ulid);
  const found = await readExecution.first(pool, { holdId });
  const row = await readHold.first(pool, { executionId: found?.id ?? `${PREFIXES.job}_${ulid}` });
  if (!row || row.id !== holdId || !roleIn(ctx, row.organization_id))
    return fail("NotFound", "There is no such hold.");
  access.authorize(ctx, "owner", { organizationId: row.organization_id });
  if (row.state !== "ambiguous") notAmbiguous(row.state);
  return row;
}

const findBlind = statement("job.find.blind", {
  params: { jobId: text, comparisonId: text },
  row: {
    organizationId: job.organization_id,
    comparisonId: present(job.comparison_id, "a blind job is of a comparison"),
  },
  sql: `SELECT organization_id AS "organizationId", comparison_id AS "comparisonId" FROM job
     WHERE is_blind AND (id = $jobId OR comparison_id = $comparisonId) LIMIT 1`,
});

/**
 * Refuses holds of an unjudged comparison: its line and each competitor alike, so the answer does not
 * reveal which competitor has a hold.
 */
async function refuseUnjudged(ctx: Ctx, ulid: string): Promise<void> {
  const rows = await findBlind.all(pool, {
    jobId: `${PREFIXES.job}_${ulid}`,
    comparisonId: `${PREFIXES.comparison}_${ulid}`,
  });
  const [blind] = rows;
  if (!blind || !roleIn(ctx, blind.organizationId)) return;
  access.authorize(ctx, "owner", { organizationId: blind.organizationId });
  const { comparisonId } = blind;
  fail("ComparisonUnjudged", "This hold belongs to a comparison. Judge the comparison first.", {
    comparisonId,
  });
}

function notAmbiguous(state: string): never {
  fail(
    "HoldNotAmbiguous",
    state === "open"
      ? "The execution is still running and settles or releases this hold automatically when it ends."
      : `This hold is already ${state}.`,
    { state },
  );
}
