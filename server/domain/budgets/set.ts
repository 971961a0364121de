import type { BudgetPeriod, BudgetView, SetBudget, TemporaryIncrease } from "@/server/contract/budgets";
import { managerOf } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { budget } from "@/server/generated/schema";
import { inTransaction, type Queryable, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import type { Micros } from "@/server/platform/money";
import { bool, column, maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { findBudgetToSet } from "./list";
import { findOwnerToSet, type Owned } from "./owner";
import { budgetsBy, readBudget, toBudget } from "./rows";

/**
 * Sets a ceiling that counts all reservations and spend of its period, including earlier ones. Changes of
 * one organization's ceilings run one at a time; each waits for running reservations and delays later ones.
 */
export async function set(ctx: Ctx, input: SetBudget): Promise<BudgetView> {
  const owner = await findOwnerToSet(ctx, input.owner);
  return underLock(owner.organizationId, async (client) => {
    if (owner.scope === `principal:${managerOf(ctx)?.id}`) await refuseLoosening(ctx, client, owner, input);
    const id = await writeBudget(ctx, client, owner, input);
    return current(ctx, client, id);
  });
}

const readCeiling = budgetsBy(
  "budget.read.ceiling",
  { scope: text, period: text },
  "b.scope = $scope AND b.period = $period AND b.enforcement <> 'off'",
);

/** A management key can tighten its own ceiling, and add one for another period, but not loosen it. */
async function refuseLoosening(
  ctx: Ctx,
  client: Transaction,
  { scope }: Owned,
  wanted: Ceiling,
): Promise<void> {
  const now = await readCeiling.first(client, { now: ctx.now(), scope, period: wanted.period });
  const isTighter = !now || wanted.ceilingMicros <= now.ceiling_micros;
  if (isTighter && wanted.enforcement === "prevent" && !wanted.managedOnly) return;
  fail(
    "AuthorizationFailed",
    "A management key can lower its own ceiling but not raise or disable it. Ask an owner for a new management key.",
    { scope, period: wanted.period, ceilingMicros: now?.ceiling_micros ?? null },
  );
}

/** Runs `work` in one transaction while no one reserves or settles money of this organization. */
export function underLock<T>(organizationId: string, work: (client: Transaction) => Promise<T>): Promise<T> {
  return inTransaction(async (client) => {
    await lockBudgets(client, organizationId);
    return work(client);
  });
}

/** Keeps others from reserving or settling money of this organization until the transaction ends. */
export async function lockBudgets(client: Transaction, organizationId: string): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(capstan_budget_lock($1))", [organizationId]);
}

const openBudget = statement("budget.insert.ceiling", {
  params: {
    id: text,
    organizationId: text,
    scope: text,
    period: budget.period,
    ceilingMicros: budget.ceiling_micros,
    createdBy: budget.created_by,
    now: timestamptz,
  },
  sql: `INSERT INTO budget (id, organization_id, scope, period, ceiling_micros, enforcement, created_by, created_at, updated_at)
    VALUES ($id, $organizationId, $scope, $period, $ceilingMicros, 'prevent', $createdBy, $now, $now)`,
});

type Opening = { organizationId: string; principalId: string; ceilingMicros: Micros; period: BudgetPeriod };

/**
 * Creates the ceiling of a principal that this same transaction creates. Nothing can be reserved yet, so it
 * needs neither a recount nor the lock.
 */
export async function openCeiling(
  ctx: Ctx,
  client: Transaction,
  { organizationId, principalId, ceilingMicros, period }: Opening,
): Promise<void> {
  await openBudget.run(client, {
    id: newId("budget"),
    organizationId,
    scope: `principal:${principalId}`,
    period,
    ceilingMicros,
    createdBy: ctx.principal.id,
    now: ctx.now(),
  });
}

type Ceiling = Omit<SetBudget, "owner">;

const upsertBudget = statement("budget.upsert", {
  params: {
    budgetId: budget.id,
    organizationId: budget.organization_id,
    projectId: budget.project_id,
    scope: budget.scope,
    period: budget.period,
    ceilingMicros: budget.ceiling_micros,
    enforcement: budget.enforcement,
    managedOnly: budget.managed_only,
    createdBy: budget.created_by,
    now: timestamptz,
  },
  row: { id: budget.id, is_counted: bool },
  sql: `WITH before AS (
       SELECT enforcement <> 'off' AND managed_only = $managedOnly AS is_counted FROM budget
       WHERE organization_id = $organizationId AND scope = $scope AND period = $period
     )
     INSERT INTO budget (id, organization_id, project_id, scope, period, ceiling_micros, enforcement, managed_only,
       created_by, created_at, updated_at)
     VALUES ($budgetId, $organizationId, $projectId, $scope, $period, $ceilingMicros, $enforcement, $managedOnly, $createdBy, $now, $now)
     ON CONFLICT (organization_id, scope, period) DO UPDATE SET ceiling_micros = excluded.ceiling_micros,
       enforcement = excluded.enforcement, managed_only = excluded.managed_only, updated_at = excluded.updated_at
     RETURNING id, coalesce((SELECT is_counted FROM before), false) AS is_counted`,
});

/**
 * Writes the ceiling and records the change. A budget that is on is recounted if it is new, was off or had
 * another `managedOnly`: another amount does not change what a period has spent. The caller holds the lock of
 * the organization.
 */
export async function writeBudget(
  ctx: Ctx,
  client: Transaction,
  owner: Owned,
  ceiling: Ceiling,
): Promise<string> {
  const found = await upsertBudget.first(client, {
    budgetId: newId("budget"),
    organizationId: owner.organizationId,
    projectId: owner.projectId,
    scope: owner.scope,
    period: ceiling.period,
    ceilingMicros: ceiling.ceilingMicros,
    enforcement: ceiling.enforcement,
    managedOnly: ceiling.managedOnly ?? false,
    createdBy: ctx.principal.id,
    now: ctx.now(),
  });
  const { id, is_counted } = found!; // INSERT … RETURNING of one row
  const isToCount = !is_counted && ceiling.enforcement !== "off";
  await (isToCount ? recount : applyCeiling).run(client, { budgetId: id, now: ctx.now() });
  const { period, ceilingMicros, enforcement, managedOnly = false } = ceiling;
  const details = { scope: owner.scope, period, ceilingMicros, enforcement, managedOnly };
  await record(ctx, { ...owner, action: "budget.set", subject: id, details }, client);
  return id;
}

const recount = statement("budget.recount", {
  params: { budgetId: text, now: timestamptz },
  row: { capstan_recount_budget: column<unknown>("void", true) },
  sql: `SELECT capstan_recount_budget($budgetId, $now)`,
});

const applyCeiling = statement("budget.apply.ceiling", {
  params: { budgetId: text, now: timestamptz },
  row: { capstan_apply_ceiling: column<unknown>("void", true) },
  sql: `SELECT capstan_apply_ceiling($budgetId, $now)`,
});

async function current(ctx: Ctx, client: Queryable, budgetId: string): Promise<BudgetView> {
  const row = await readBudget.first(client, { now: ctx.now(), id: budgetId });
  if (!row) throw new Error(`budget ${budgetId} does not exist`);
  return toBudget(row, ctx.now());
}

/** Raises a ceiling until a given time. A second increase replaces the first. */
export async function increase(
  ctx: Ctx,
  { budgetId, ...wanted }: TemporaryIncrease & { budgetId: string },
): Promise<BudgetView> {
  refusePast(ctx, wanted, ["body", "until"]);
  return change(ctx, budgetId, (client, row) => writeIncrease(ctx, client, row, wanted));
}

/** Removes a temporary increase. */
export function clearIncrease(ctx: Ctx, budgetId: string): Promise<BudgetView> {
  return change(ctx, budgetId, (client, row) => writeIncrease(ctx, client, row, null));
}

const turnOff = statement("budget.update.off", {
  params: { budgetId: text, now: timestamptz },
  sql: `UPDATE budget SET enforcement = 'off', updated_at = $now WHERE id = $budgetId`,
});

/** Turns a ceiling off and keeps its history. A management key cannot remove its own. */
export function remove(ctx: Ctx, budgetId: string): Promise<BudgetView> {
  return change(ctx, budgetId, async (client, row) => {
    await turnOff.run(client, { budgetId: row.id, now: ctx.now() });
    await record(ctx, { ...ownerOf(row), action: "budget.removed", subject: row.id }, client);
  });
}

export type Known = { id: string; organization_id: string; project_id: string | null };
const ownerOf = (row: Known) => ({ organizationId: row.organization_id, projectId: row.project_id });

const storeIncrease = statement("budget.update.increase", {
  params: {
    budgetId: text,
    amountMicros: budget.increase_micros,
    increaseUntil: maybe(column<string>("timestamptz")),
    reason: budget.increase_reason,
    now: timestamptz,
  },
  sql: `UPDATE budget SET increase_micros = $amountMicros, increase_until = $increaseUntil, increase_reason = $reason, updated_at = $now WHERE id = $budgetId`,
});

/**
 * Writes the increase, applies it and records the change. The caller holds the lock of the
 * organization.
 */
export async function writeIncrease(
  ctx: Ctx,
  client: Transaction,
  row: Known,
  wanted: TemporaryIncrease | null,
): Promise<void> {
  await storeIncrease.run(client, {
    budgetId: row.id,
    amountMicros: wanted?.amountMicros ?? 0,
    increaseUntil: wanted?.until ?? null,
    reason: wanted?.reason ?? null,
    now: ctx.now(),
  });
  await applyCeiling.run(client, { budgetId: row.id, now: ctx.now() });
  const action = wanted ? "budget.increased" : "budget.increase_cleared";
  await record(ctx, { ...ownerOf(row), action, subject: row.id, details: { ...wanted } }, client);
}

export function refusePast(ctx: Ctx, { until }: TemporaryIncrease, loc: (string | number)[]): void {
  if (new Date(until) > ctx.now()) return;
  throw new ValidationFault([
    { loc, msg: "This time is in the past. Choose a later one.", type: "value_error" },
  ]);
}

async function change(
  ctx: Ctx,
  budgetId: string,
  work: (client: Transaction, row: Known) => Promise<void>,
): Promise<BudgetView> {
  const row = await findBudgetToSet(ctx, budgetId);
  return underLock(row.organization_id, async (client) => {
    await work(client, row);
    return current(ctx, client, row.id);
  });
}
