import type {
  BudgetEnforcement,
  BudgetPeriod,
  BudgetPolicy,
  PutBudgetPolicy,
} from "@/server/contract/budgets";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool, type Queryable } from "@/server/platform/db";
import { ValidationFault } from "@/server/platform/errors/errors";
import { type Micros, usdToMicros } from "@/server/platform/money";
import { text } from "@/server/sql/column";
import { findOwner, findOwnerToSet } from "./owner";
import { type BudgetRow, budgetsBy, toBudget } from "./rows";
import { refusePast, underLock, writeBudget, writeIncrease } from "./set";

type Line = NonNullable<PutBudgetPolicy["budgets"]>[number];
type Wanted = {
  period: BudgetPeriod;
  ceilingMicros: Micros;
  enforcement: BudgetEnforcement;
  managedOnly: boolean;
  /** Undefined leaves the current increase unchanged. */
  temporaryIncrease: Line["temporaryIncrease"];
};

/**
 * Returns the ceilings of a project with their current spend. For its people, for keys with billing:read, and
 * for management keys with budgets:write.
 */
export async function policy(ctx: Ctx, projectId: string): Promise<BudgetPolicy> {
  if (ctx.principal.kind === "service_principal")
    await access.authorize(ctx, "budgets:read", { projectInPath: projectId });
  else await findOwner(ctx, { projectId }, "viewer");
  return read(ctx, projectId);
}

async function read(ctx: Ctx, projectId: string, database?: Queryable): Promise<BudgetPolicy> {
  const rows = await rowsOf(ctx, projectId, database);
  const modes = rows.map((row) => row.enforcement);
  return {
    projectId,
    enforcement: (["prevent", "warn"] as const).find((mode) => modes.includes(mode)) ?? "off",
    budgets: rows.map((row) => toBudget(row, ctx.now())),
  };
}

const listPolicy = budgetsBy("budget.list.policy", { projectId: text }, "b.scope = 'project:' || $projectId");

const rowsOf = (ctx: Ctx, projectId: string, database: Queryable = pool) =>
  listPolicy.all(database, { now: ctx.now(), projectId });

/**
 * Replaces a project's whole policy: a ceiling that the body does not list is turned off. `enforcement`
 * alone changes the mode of the current ceilings.
 */
export async function putPolicy(ctx: Ctx, projectId: string, body: PutBudgetPolicy): Promise<BudgetPolicy> {
  const owner = await findOwnerToSet(ctx, { projectId });
  return underLock(owner.organizationId, async (client) => {
    const standing = await rowsOf(ctx, projectId, client);
    const wanted = wantedOf(ctx, body, standing);
    for (const row of standing) {
      if (row.enforcement !== "off" && !wanted.some(({ period }) => period === row.period))
        await writeBudget(ctx, client, owner, { ...asSet(row), enforcement: "off" });
    }
    for (const { temporaryIncrease, ...line } of wanted) {
      const id = await writeBudget(ctx, client, owner, line);
      const known = { id, organization_id: owner.organizationId, project_id: projectId };
      if (temporaryIncrease !== undefined) await writeIncrease(ctx, client, known, temporaryIncrease);
    }
    return read(ctx, projectId, client);
  });
}

const asSet = (row: BudgetRow) => ({
  period: row.period,
  ceilingMicros: row.ceiling_micros,
  managedOnly: row.managed_only,
});

function wantedOf(
  ctx: Ctx,
  { enforcement, budgets, ...short }: PutBudgetPolicy,
  standing: BudgetRow[],
): Wanted[] {
  const isShort = Object.values(short).some((value) => value !== undefined && value !== null);
  if (budgets && isShort)
    refuse(["budgets"], "Send either a list of budgets or one limit in short form, not both.");
  if (!budgets && !isShort) {
    if (!enforcement) return refuse(["enforcement"], "Send an enforcement, a limit or a list of budgets.");
    if (standing.length === 0 && enforcement !== "off")
      return refuse(["ceilingMicros"], "This project has no limit yet. Send ceilingMicros and a period.");
    return standing.map((row) => ({ ...asSet(row), enforcement, temporaryIncrease: undefined }));
  }
  const lines = budgets ?? [{ ...short, period: short.period ?? "month" }];
  const at = (place: number) => (budgets ? ["budgets", place] : []);
  const periods = lines.map(({ period }) => period);
  return lines.map((line, place) => {
    if (periods.indexOf(line.period) !== place)
      refuse(
        [...at(place), "period"],
        `Each period can have only one budget, and ${line.period} is listed twice.`,
      );
    if (line.temporaryIncrease)
      refusePast(ctx, line.temporaryIncrease, ["body", ...at(place), "temporaryIncrease", "until"]);
    return {
      period: line.period,
      ceilingMicros: ceilingOf(line, at(place)),
      enforcement: line.enforcement ?? enforcement ?? "prevent",
      managedOnly: line.managedOnly ?? false,
      temporaryIncrease: line.temporaryIncrease,
    };
  });
}

function ceilingOf({ ceilingMicros, ceilingUsd }: Line, at: (string | number)[]): Micros {
  if (
    typeof ceilingMicros === "number" &&
    typeof ceilingUsd === "number" &&
    usdToMicros(ceilingUsd) !== ceilingMicros
  )
    refuse([...at, "ceilingUsd"], "This differs from ceilingMicros. Send one of them.");
  if (typeof ceilingMicros === "number") return ceilingMicros;
  return typeof ceilingUsd === "number"
    ? usdToMicros(ceilingUsd)
    : refuse([...at, "ceilingMicros"], "The limit is missing. Send ceilingMicros or ceilingUsd.");
}

function refuse(at: (string | number)[], msg: string): never {
  throw new ValidationFault([{ loc: ["body", ...at], msg, type: "value_error" }]);
}
