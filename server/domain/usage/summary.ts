import type { WalletMoney } from "@/server/contract/billing";
import type {
  BillingSummary,
  BillingSummaryQuery,
  UsageDays,
  UsageFigures,
  UsageSide,
} from "@/server/contract/usage";
import { wallet } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { column, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { lastDays } from "./days";
import { type GroupRow, usageByGroup } from "./roll-up";
import { usageScope } from "./scope";

/** Returns the totals of the last days, live and test apart, with the organization's remaining funds. */
export async function summary(ctx: Ctx, query: BillingSummaryQuery): Promise<BillingSummary> {
  const scope = await usageScope(ctx, query);
  const days = lastDays(query.days, ctx.now());
  const rows = await usageByGroup([...scope.projects.keys()], days);
  const [names, funds] = await Promise.all([namesOf(rows), wallet(ctx, scope.organizationId)]);
  const dayNames = days.map(({ day }) => day);
  const side = (isTest: boolean): UsageSide => {
    const own = rows.filter((row) => row.is_test === isTest);
    return {
      totals: add(own),
      byDay: dayNames.map((day) => ({ day, ...add(own.filter((row) => row.day === day)) })),
      byProject: by(
        own,
        (row) => row.project_id,
        (row) => ({
          projectId: row.project_id,
          name: scope.projects.get(row.project_id) ?? row.project_id,
        }),
      ),
      byCapability: by(
        own,
        (row) => row.capability_key,
        (row) => ({ capabilityKey: row.capability_key }),
      ),
      byProvider: by(
        own,
        (row) => row.provider,
        (row) => ({ provider: row.provider || null }),
      ),
      byModel: by(
        own,
        (row) => `${row.provider}/${row.model}`,
        (row) => ({
          provider: row.provider || null,
          model: row.model || null,
        }),
      ),
      byPrincipal: by(
        own,
        (row) => row.principal_id,
        (row) => toPrincipal(row.principal_id, names),
      ),
      byBillingMode: by(
        own,
        (row) => row.billing_mode,
        (row) => ({ billingMode: row.billing_mode }),
      ),
      funds: fundsIn(isTest ? funds.test : funds),
    };
  };
  return {
    organizationId: scope.organizationId,
    projectId: scope.projectId,
    days: query.days,
    from: dayNames[0] ?? "",
    to: dayNames.at(-1) ?? "",
    currency: "USD",
    live: side(false),
    test: side(true),
  };
}

/** Returns a project's last days for the chart in the panel. */
export async function days(ctx: Ctx, projectId: string, count: number): Promise<UsageDays> {
  const scope = await usageScope(ctx, { projectId });
  const asked = lastDays(count, ctx.now());
  const rows = await usageByGroup([...scope.projects.keys()], asked);
  const names = await namesOf(rows);
  const shown = asked.map(({ day }) => day);
  const key = (row: GroupRow) =>
    [row.day, row.is_test, row.capability_key, row.provider, row.principal_id].join("\n");
  return {
    from: shown[0] ?? "",
    to: shown.at(-1) ?? "",
    days: shown,
    rows: by(rows, key, (row) => ({
      day: row.day,
      test: row.is_test,
      capabilityKey: row.capability_key,
      provider: row.provider || null,
      principalId: row.principal_id,
    })),
    principals: [...new Set(rows.map((row) => row.principal_id))].map((id) => toPrincipal(id, names)),
  };
}

function add(rows: GroupRow[]): UsageFigures {
  const sum = (of: (row: GroupRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    executions: sum((row) => row.executions),
    succeeded: sum((row) => row.succeeded),
    failed: sum((row) => row.failed),
    canceled: sum((row) => row.canceled),
    unfinished: sum((row) => row.executions - row.succeeded - row.failed - row.canceled - row.unjudged),
    unjudged: sum((row) => row.unjudged),
    providerCostMicros: sum((row) => row.cost_micros),
    unknownCosts: sum((row) => row.unknown_costs),
    chargedMicros: sum((row) => row.charged_micros),
    feeMicros: sum((row) => row.fee_micros),
    inputTokens: sum((row) => row.input_tokens),
    outputTokens: sum((row) => row.output_tokens),
    images: sum((row) => row.images),
  };
}

/** Groups the rows, the highest charge first, then the highest provider cost, then the most executions. */
function by<T>(
  rows: GroupRow[],
  keyOf: (row: GroupRow) => string,
  nameOf: (row: GroupRow) => T,
): (T & UsageFigures)[] {
  const groups = new Map<string, GroupRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()]
    .flatMap((group) => (group[0] ? [{ ...nameOf(group[0]), ...add(group) }] : []))
    .sort(
      (a, b) =>
        b.chargedMicros - a.chargedMicros ||
        b.providerCostMicros - a.providerCostMicros ||
        b.executions - a.executions,
    );
}

type Names = ReadonlyMap<string, { kind: "key" | "person"; name: string }>;

const listNames = statement("principal.list.usage_names", {
  params: { ids: texts },
  row: { id: text, kind: column<"key" | "person">("text"), name: text },
  sql: `SELECT id, 'key' AS kind, name FROM api_key WHERE id = ANY($ids)
     UNION ALL SELECT id, 'person', email FROM user_account WHERE id = ANY($ids)`,
});

async function namesOf(rows: GroupRow[]): Promise<Names> {
  const ids = [...new Set(rows.map((row) => row.principal_id))];
  if (ids.length === 0) return new Map();
  const found = await listNames.all(pool, { ids });
  return new Map(found.map(({ id, kind, name }) => [id, { kind, name }]));
}

function toPrincipal(principalId: string, names: Names) {
  const known = names.get(principalId);
  return { principalId, kind: known?.kind ?? ("other" as const), name: known?.name ?? null };
}

/** Returns the funds of a wallet without its other fields. */
function fundsIn({ available, reserved, balance, allowance }: WalletMoney): WalletMoney {
  return { available, reserved, balance, allowance };
}
