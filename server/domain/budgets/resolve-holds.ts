import type { HoldsResolved, ResolveHolds } from "@/server/contract/budgets";
import { access, isOperator, visibleOrganizations } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { type ExecutionHold, findHolds, resolve } from "./resolve";
import { foundBy, mayResolve } from "./resolve-hold";

/** How many holds one call looks at, oldest first. */
const MOST = 500;

/**
 * Resolves the ambiguous holds that a filter selects alike: not charged, or charged at their amounts. Each is a resolution of
 * its own, with its audit entry. For owners, of their organization, and operators. Those of comparisons that are not judged are
 * left out, and those that only an
 * operator may resolve so are counted as `refused`. `dryRun` writes nothing. `nextCursor`: there are more, after that one.
 */
export async function resolveHolds(ctx: Ctx, asked: ResolveHolds): Promise<HoldsResolved> {
  const { filter, outcome, note, dryRun } = asked;
  if (filter.organizationId) access.authorize(ctx, "owner", { organizationId: filter.organizationId });
  else if (!isOperator(ctx)) fail("AuthorizationFailed", "Name the organization whose holds to resolve.");
  const found = await findHolds(
    `hold.state = 'ambiguous' AND execution.line_id IS NOT DISTINCT FROM execution.id
       AND ($1::text[] IS NULL OR hold.organization_id = ANY($1)) AND ($2::text IS NULL OR hold.organization_id = $2)
       AND ($3::text IS NULL OR hold.project_id = $3) AND ($4::text IS NULL OR hold.billing_mode = $4::text)
       AND ($5::boolean IS NULL OR hold.is_test = $5) AND ($6::text IS NULL OR execution.capability_key = $6)
       AND ($7::text IS NULL OR execution.provider = $7) AND ($8::timestamptz IS NULL OR hold.created_at < $8)
       AND ($9::text IS NULL OR hold.id > $9)
     ORDER BY hold.id LIMIT ${MOST + 1}`,
    [
      visibleOrganizations(ctx),
      filter.organizationId ?? null,
      filter.projectId ?? null,
      filter.billingMode ?? null,
      filter.isTest ?? null,
      filter.capabilityKey ?? null,
      filter.provider ?? null,
      filter.createdBefore ?? null,
      asked.cursor ?? null,
    ],
  );
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
