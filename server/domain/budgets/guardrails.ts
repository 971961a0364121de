import { z } from "zod";
import type { ChangeGuardrails, Guardrails } from "@/server/contract/budgets";
import { changeAccess, type ProjectAccess, personBehind } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { budget, organization } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, microsToUsd } from "@/server/platform/money";
import { jsonb, maybe, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { SETS } from "./owner";
import { budgetsBy, toBudget } from "./rows";
import { underLock, writeBudget } from "./set";

/*
 * An organization has safety ceilings for executions on its own provider accounts. The daily one is a
 * stored budget that counts only such executions (scope guardrail:<organization>); the one per execution is
 * a setting.
 */

const Stored = z.looseObject({ guardrails: z.object({ perExecutionMicros: z.int() }).optional() });
const perExecutionOf = (settings: unknown) =>
  Stored.parse(settings ?? {}).guardrails?.perExecutionMicros ?? null;

/** Budget scope of one connection, as `capstan_scopes` writes it. */
export const scopeOfConnection = (credentialId: string) => `connection:${credentialId}`;
const scopeOf = (organizationId: string) => `guardrail:${organizationId}`;

type Asked = { billingMode: string; maximumMicros: Micros; credentialIds: string[] };

/**
 * Refuses an execution on the customer's own accounts if it may cost more than the organization or one of
 * these connections allows per execution. Both limits come from cached rows.
 */
export async function checkGuardrail(
  project: Pick<ProjectAccess, "id" | "organizationId" | "organizationSettings">,
  environment: string,
  { billingMode, maximumMicros, credentialIds }: Asked,
): Promise<void> {
  if (billingMode !== "byok") return;
  const whole = perExecutionOf(project.organizationSettings);
  if (whole !== null && maximumMicros > whole)
    refuse(maximumMicros, whole, {
      allows: "your organization allows at most",
      scope: scopeOf(project.organizationId),
      field: "guardrails.perExecutionMicros",
    });
  if (credentialIds.length === 0) return;
  for (const connection of await connectionsOf({ id: project.id, environment })) {
    const { credentialId, perExecutionMicros } = connection;
    if (perExecutionMicros === null || !credentialIds.includes(credentialId)) continue;
    if (maximumMicros > perExecutionMicros)
      refuse(maximumMicros, perExecutionMicros, {
        allows: "this connection allows at most",
        scope: scopeOfConnection(credentialId),
        field: "userGuardrails.perExecutionMicros",
      });
  }
}

type Ceiling = { allows: string; scope: string; field: string };

function refuse(maximumMicros: Micros, ceilingMicros: Micros, { allows, scope, field }: Ceiling): never {
  const [estimatedCost, ceiling] = [microsToUsd(maximumMicros), microsToUsd(ceilingMicros)];
  fail(
    "BudgetExceeded",
    `This may cost ${estimatedCost} USD on your own provider account; ${allows} ${ceiling} USD for one execution.`,
    { scope, field, enforcement: "prevent", estimatedCost, available: ceiling, ceiling },
  );
}

const findPreventing = statement("budget.find.preventing", {
  params: {
    organizationId: text,
    projectId: text,
    principalId: text,
    personId: text,
    billingMode: text,
    credentialIds: texts,
  },
  row: { scope: budget.scope },
  sql: `SELECT scope FROM budget WHERE organization_id = $organizationId AND enforcement = 'prevent'
       AND (NOT managed_only OR $billingMode::text = 'managed')
       AND scope = ANY(capstan_scopes($organizationId, $projectId, $principalId, $personId, $billingMode, $credentialIds)) LIMIT 1`,
});

/**
 * Returns the scope of a preventing ceiling that counts an execution of this caller, or null if there is
 * none. Used for work without a known price, which no ceiling could limit.
 */
export async function preventingScope(
  ctx: Ctx,
  project: Pick<ProjectAccess, "id" | "organizationId" | "organizationSettings">,
  environment: string,
  { billingMode, credentialIds }: Omit<Asked, "maximumMicros">,
): Promise<string | null> {
  const { id, organizationId, organizationSettings } = project;
  const row = await findPreventing.first(pool, {
    organizationId,
    projectId: id,
    principalId: ctx.principal.id,
    personId: personBehind(ctx.principal),
    billingMode,
    credentialIds,
  });
  if (row) return row.scope;
  if (billingMode !== "byok") return null;
  if (perExecutionOf(organizationSettings) !== null) return scopeOf(organizationId);
  const limited = (await connectionsOf({ id, environment })).find(
    ({ credentialId, perExecutionMicros }) =>
      perExecutionMicros !== null && credentialIds.includes(credentialId),
  );
  return limited ? scopeOfConnection(limited.credentialId) : null;
}

/**
 * Returns the guardrails of an organization, and, if it has a daily one, its live spend today on its own
 * accounts.
 */
export async function guardrails(ctx: Ctx, organizationId?: string): Promise<Guardrails> {
  return read(ctx, billedOrganization(ctx, organizationId, "viewer"));
}

const readSettings = statement("organization.read.guardrails", {
  params: { organizationId: text },
  row: { settings: organization.settings },
  sql: `SELECT settings FROM organization WHERE id = $organizationId`,
});

const readDaily = budgetsBy(
  "budget.read.guardrail",
  { scope: text },
  "b.scope = $scope AND b.enforcement <> 'off'",
);

async function read(ctx: Ctx, organizationId: string): Promise<Guardrails> {
  const found = await readSettings.first(pool, { organizationId });
  if (!found) fail("NotFound", "There is no such organization.");
  const row = await readDaily.first(pool, { now: ctx.now(), scope: scopeOf(organizationId) });
  const daily = row && toBudget(row, ctx.now());
  return {
    organizationId,
    dailyMicros: daily?.ceilingMicros ?? null,
    perExecutionMicros: perExecutionOf(found.settings),
    spend: daily?.spend ?? null,
  };
}

const setGuardrails = statement("organization.update.guardrails", {
  params: { organizationId: text, setting: maybe(jsonb<{ perExecutionMicros: number }>()) },
  sql: `UPDATE organization SET settings = CASE WHEN $setting::jsonb IS NULL THEN settings - 'guardrails'
      ELSE jsonb_set(settings, '{guardrails}', $setting) END
    WHERE id = $organizationId`,
});

/** Changes the given guardrails; null removes one. For admins of the organization and operators. */
export async function changeGuardrails(ctx: Ctx, input: ChangeGuardrails): Promise<Guardrails> {
  const organizationId = billedOrganization(ctx, input.organizationId, SETS);
  const { dailyMicros, perExecutionMicros } = input;
  if (dailyMicros !== undefined) {
    const owner = { organizationId, projectId: null, scope: scopeOf(organizationId) };
    await underLock(organizationId, (client) =>
      writeBudget(ctx, client, owner, {
        period: "day",
        ceilingMicros: dailyMicros ?? 0,
        enforcement: dailyMicros === null ? "off" : "prevent",
      }),
    );
  }
  if (perExecutionMicros !== undefined) {
    const setting = perExecutionMicros === null ? null : { perExecutionMicros };
    await changeAccess(async (client) => {
      await setGuardrails.run(client, { organizationId, setting });
      const details = { perExecutionMicros };
      const act = { organizationId, action: "guardrails.changed", subject: organizationId, details };
      await record(ctx, act, client);
    });
  }
  return read(ctx, organizationId);
}
