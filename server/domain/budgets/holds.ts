import type { HoldPage, HoldView, ListHolds } from "@/server/contract/budgets";
import { access, EVERYTHING, isOperator, type ReadScope } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { fail } from "@/server/platform/errors/errors";
import {
  bool,
  column,
  int8,
  maybe,
  type Of,
  pick,
  present,
  text,
  texts,
  timestamptz,
} from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { findOwner } from "./owner";

/** Columns that a line (`hold_line`) and the hold of one execution (`hold`) share. */
export const HOLD = {
  id: present(text, "made from an id"),
  organization_id: text,
  project_id: text,
  execution_id: present(text, "an execution, or the comparison of a blind job"),
  principal_id: text,
  person_id: maybe(text),
  billing_mode: text,
  credential_ids: maybe(texts),
  is_test: bool,
  funding: maybe(text),
  amount_micros: present(int8, "the amount of a hold, or a sum of several"),
  state: column<HoldView["state"]>("text"),
  settled_micros: maybe(int8),
  created_at: present(timestamptz, "the time of a hold, or of the first of several"),
  resolved_at: maybe(timestamptz),
  resolved_by: maybe(text),
  note: maybe(text),
  resolution: maybe(column<NonNullable<HoldView["resolution"]>>("text")),
};
const LINE = { ...HOLD, capability_key: maybe(text), status: maybe(text) };
type HoldRow = Of<typeof LINE>;

export const toHold = (row: HoldRow): HoldView => ({
  holdId: row.id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  executionId: row.execution_id,
  capabilityKey: row.capability_key,
  status: row.status,
  principalId: row.principal_id,
  personId: row.person_id,
  billingMode: row.billing_mode,
  isTest: row.is_test,
  amountMicros: row.amount_micros,
  state: row.state,
  settledMicros: row.settled_micros,
  createdAt: row.created_at.toISOString(),
  resolvedAt: row.resolved_at?.toISOString() ?? null,
  resolvedBy: row.resolved_by,
  note: row.note,
  // Older rows have no `resolution`; at that time only a person could resolve a hold.
  resolution: row.resolution ?? (row.resolved_by === null ? null : "person"),
});

/**
 * A key with billing:read sees its project, or its organization if it is bound to no project; a person their
 * organizations; an operator everything.
 */
function scopeOf(ctx: Ctx): ReadScope {
  return isOperator(ctx) ? EVERYTHING : access.authorize(ctx, "billing:read", "rows");
}

const VISIBLE = pick(SCOPE, "organizationIds projectId");
const listRows = statement("hold.list", {
  params: {
    state: maybe(text),
    ...VISIBLE,
    projectOfQuery: maybe(text),
    organizationId: maybe(text),
    before: maybe(text),
    limit: int8,
    test: column<unknown>("bool", true),
  },
  row: LINE,
  sql: `SELECT * FROM hold_line AS hold
     WHERE ($state::text IS NULL OR hold.state = $state::text)
       AND ${inScope(VISIBLE, "hold")}
       AND ($projectOfQuery::text IS NULL OR hold.project_id = $projectOfQuery) AND ($organizationId::text IS NULL OR hold.organization_id = $organizationId)
       AND ($before::text IS NULL OR hold.id < $before) AND ($test::boolean IS NULL OR hold.is_test = $test)
     ORDER BY hold.id DESC LIMIT $limit`,
});

/**
 * Lists holds, newest first, in every state unless the query names one. A comparison that is not judged is
 * one line.
 */
export async function listHolds(ctx: Ctx, query: ListHolds): Promise<HoldPage> {
  const scope = scopeOf(ctx);
  if (query.projectId) {
    if (isOperator(ctx)) await findOwner(ctx, { projectId: query.projectId }, "viewer");
    else await access.authorize(ctx, "billing:read", { projectId: query.projectId });
  }
  const isOwn = !query.organizationId || scope.organizationIds?.includes(query.organizationId);
  if (!isOwn && !isOperator(ctx)) fail("NotFound", "There is no such organization.");
  const limit = Number(query.limit ?? 50);
  const rows = await readInScope(listRows, scope, {
    state: query.state ?? null,
    projectOfQuery: query.projectId ?? null,
    organizationId: query.organizationId ?? null,
    before: readCursor("hold", query.cursor),
    limit: limit + 1,
    test: query.test ?? null,
  });
  return toPage(rows, limit, toHold);
}
