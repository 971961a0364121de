import type { Plan } from "@/server/contract/billing";
import type { ChangePlan, PlanSettingsView } from "@/server/contract/plan-settings";
import { access, changeAccess, managerOf } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import {
  allowsExternal,
  allPlans,
  featuresOf,
  limitsOf,
  PlanSettings,
  planOf,
  type Settings,
  usedOfEach,
} from "@/server/domain/plans";
import { organization } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { jsonb, maybe, names, type Of, pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const SETTINGS = pick(organization, "id display_name created_at settings");
type Row = Of<typeof SETTINGS>;

/** The plan of an organization, its limits and features, and its usage. For its members. */
export async function planSettings(ctx: Ctx, organizationId: string): Promise<PlanSettingsView> {
  access.authorize(ctx, "viewer", { organizationId });
  return view(ctx, await read(organizationId, pool));
}

const listSettings = statement("organization.list.plan_settings", {
  params: { before: maybe(text) },
  row: SETTINGS,
  sql: `SELECT ${names(SETTINGS)} FROM organization WHERE ($before::text IS NULL OR id < $before)
     ORDER BY id DESC LIMIT 51`,
});

const readSettings = statement("organization.read.plan_settings", {
  params: { organizationId: text },
  row: SETTINGS,
  sql: `SELECT ${names(SETTINGS)} FROM organization WHERE id = $organizationId`,
});

const lockSettings = statement("organization.lock.plan_settings", {
  params: { organizationId: text },
  row: SETTINGS,
  sql: `SELECT ${names(SETTINGS)} FROM organization WHERE id = $organizationId FOR NO KEY UPDATE`,
});

/** The plan settings of every organization, newest first, 50 at a time. Operators only. */
export async function listPlanSettings(
  ctx: Ctx,
  { cursor }: { cursor?: string | undefined },
): Promise<{ items: PlanSettingsView[]; nextCursor?: string }> {
  access.authorize(ctx, "operator");
  const rows = await listSettings.all(pool, { before: readCursor("organization", cursor) });
  const { items: page, ...next } = toPage(rows, 50, (row) => row);
  return { items: await views(ctx, page), ...next };
}

/** The plans that an operator can assign. */
export async function offeredPlans(ctx: Ctx): Promise<Plan[]> {
  access.authorize(ctx, "operator");
  return [...allPlans()];
}

/**
 * Assigns a plan to an organization, or agrees limits and features that replace the plan's. Takes effect with
 * the next request, for work admitted from then on. Operators only.
 */
export async function changePlan(
  ctx: Ctx,
  organizationId: string,
  { plan, limits, features }: ChangePlan,
): Promise<PlanSettingsView> {
  access.authorize(ctx, "operator");
  if (plan && !allPlans().some(({ slug }) => slug === plan)) {
    const slugs = allPlans().map(({ slug }) => slug);
    const msg = `There is no such plan. Use one of: ${slugs.join(", ")}.`;
    throw new ValidationFault([{ loc: ["body", "plan"], msg, type: "unknown" }]);
  }
  return change(ctx, organizationId, "plan.changed", { plan, limits, features });
}

/**
 * Allows or blocks calls from an organization's executions to providers. For its owners, and for management
 * keys, which cannot allow them.
 */
export async function setExternalActions(
  ctx: Ctx,
  organizationId: string,
  externalActions: boolean,
): Promise<PlanSettingsView> {
  const manager = managerOf(ctx);
  if (!manager) access.authorize(ctx, "owner", { organizationId });
  else {
    access.authorize(ctx, "settings:write");
    if (manager.organizationId !== organizationId) fail("NotFound", "There is no such organization.");
    if (externalActions) return requireExternalActions(ctx, organizationId);
  }
  return change(ctx, organizationId, "external_actions.changed", { externalActions });
}

/**
 * Answers a management key that would allow external actions: nothing changes. Throws AuthorizationFailed
 * unless they are already allowed.
 */
async function requireExternalActions(ctx: Ctx, organizationId: string): Promise<PlanSettingsView> {
  const row = await read(organizationId, pool);
  if (!allowsExternal(row.settings))
    fail(
      "AuthorizationFailed",
      "A management key can turn external actions off but not on. Ask an owner of the organization.",
      { field: "externalActions", current: false },
    );
  return view(ctx, row);
}

type Changes = Record<string, Json | undefined>;

const mergeSettings = statement("organization.update.plan_settings", {
  params: { organizationId: text, settings: jsonb<Settings>(), removed: texts },
  sql: `UPDATE organization SET settings = (settings || $settings::jsonb) - $removed::text[] WHERE id = $organizationId`,
});

/** Writes these settings and leaves all others; null removes a setting. */
async function change(ctx: Ctx, organizationId: string, action: string, wanted: Changes) {
  const changes = Object.entries(wanted).filter(([, value]) => value !== undefined) as [string, Json][];
  const after = await changeAccess(async (client) => {
    const before = (await lockSettings.first(client, { organizationId })) ?? noOrganization();
    await mergeSettings.run(client, {
      organizationId,
      settings: Object.fromEntries(changes),
      removed: changes.filter(([, value]) => value === null).map(([name]) => name),
    });
    const row = await read(organizationId, client);
    const details = Object.fromEntries(
      changes.map(([name]) => [
        name,
        { before: before.settings[name] ?? null, after: row.settings[name] ?? null },
      ]),
    );
    await record(ctx, { organizationId, subject: organizationId, action, details }, client);
    return row;
  });
  return view(ctx, after);
}

async function read(organizationId: string, database: Queryable): Promise<Row> {
  return (await readSettings.first(database, { organizationId })) ?? noOrganization();
}

const noOrganization = (): never => fail("NotFound", "There is no such organization.");

async function view(ctx: Ctx, row: Row): Promise<PlanSettingsView> {
  const [only] = await views(ctx, [row]);
  return only!; // one organization went in
}

async function views(ctx: Ctx, rows: Row[]): Promise<PlanSettingsView[]> {
  const used = await usedOfEach(
    rows.map(({ id, settings }) => ({ organizationId: id, settings })),
    ctx.now(),
  );
  return rows.map(({ id, display_name, created_at, settings }) => {
    const { limits, features } = PlanSettings.parse(settings);
    return {
      organizationId: id,
      displayName: display_name,
      createdAt: created_at.toISOString(),
      plan: planOf(settings),
      agreed: { limits, features },
      limits: limitsOf(settings),
      features: featuresOf(settings),
      used: used.get(id)!, // read for each of these organizations
      externalActions: allowsExternal(settings),
    };
  });
}
