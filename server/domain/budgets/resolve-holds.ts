import type { HoldsResolved, ResolveHolds } from "@/server/contract/budgets";
import { access, isOperator, visibleOrganizations } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { bool, column, maybe, pick, text } from "@/server/sql/column";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { type ExecutionHold, holdsBy, resolve } from "./resolve";
import { foundBy, mayResolve } from "./resolve-hold";

/** Maximum number of holds per call, oldest first. */
const MOST = 500;

const VISIBLE = pick(SCOPE, "organizationIds");
const listMatching = holdsBy(
  "hold.list.matching",
  {
    ...VISIBLE,
    organizationId: maybe(text),
    projectId: maybe(text),
    billingMode: maybe(text),
    isTest: maybe(bool),
    capabilityKey: maybe(text),
    provider: maybe(text),
    createdBefore: maybe(column<string>("timestamptz")),
    after: maybe(text),
  },
  `hold.state = 'ambiguous' AND execution.line_id IS NOT DISTINCT FROM execution.id
     AND ${inScope(VISIBLE, "hold")}
     AND ($organizationId::text IS NULL OR hold.organization_id = $organizationId)
     AND ($projectId::text IS NULL OR hold.project_id = $projectId)
     AND ($billingMode::text IS NULL OR hold.billing_mode = $billingMode::text)
     AND ($isTest::boolean IS NULL OR hold.is_test = $isTest)
     AND ($capabilityKey::text IS NULL OR execution.capability_key = $capabilityKey)
     AND ($provider::text IS NULL OR execution.provider = $provider)
     AND ($createdBefore::timestamptz IS NULL OR hold.created_at < $createdBefore)
     AND ($after::text IS NULL OR hold.id > $after)
   ORDER BY hold.id LIMIT ${MOST + 1}`,
);

/**
 * Resolves the ambiguous holds that match a filter, the oldest first and at most 500 in a call, either without
 * a charge or charged at their amounts. Each is resolved separately, with its own audit entry. For owners of
 * the named organization and for operators. Holds of unjudged comparisons are left out; those that only an
 * operator may resolve are counted as `refused`. `dryRun` writes nothing. `nextCursor` is set if more holds
 * match.
 */
export async function resolveHolds(ctx: Ctx, asked: ResolveHolds): Promise<HoldsResolved> {
  const { filter, outcome, note, dryRun } = asked;
  if (filter.organizationId) access.authorize(ctx, "owner", { organizationId: filter.organizationId });
  else if (!isOperator(ctx)) fail("AuthorizationFailed", "Name the organization whose holds to resolve.");
  const found = await listMatching.all(pool, {
    organizationIds: visibleOrganizations(ctx),
    organizationId: filter.organizationId ?? null,
    projectId: filter.projectId ?? null,
    billingMode: filter.billingMode ?? null,
    isTest: filter.isTest ?? null,
    capabilityKey: filter.capabilityKey ?? null,
    provider: filter.provider ?? null,
    createdBefore: filter.createdBefore ?? null,
    after: asked.cursor ?? null,
  });
  const holds = found.slice(0, MOST);
  const microsOf = (hold: ExecutionHold) => (outcome === "charged" ? hold.amount_micros : 0);
  const allowed = holds.filter((hold) => mayResolve(ctx, hold, microsOf(hold)));
  const ended: ExecutionHold[] = [];
  for (const hold of allowed) {
    const after = dryRun ? hold : await resolve(ctx, hold, foundBy(hold, microsOf(hold), note));
    if (after) ended.push(hold);
  }
  const last = holds.at(-1);
  return {
    dryRun,
    matched: holds.length,
    resolved: ended.length,
    refused: holds.length - allowed.length,
    reservedMicros: sum(ended.map(({ amount_micros }) => amount_micros)),
    chargedMicros: sum(ended.map(microsOf)),
    ...(found.length > MOST && last ? { nextCursor: last.id } : {}),
  };
}

const sum = (amounts: number[]) => amounts.reduce((all, each) => all + each, 0);
