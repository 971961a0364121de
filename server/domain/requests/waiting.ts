import type { WaitingCommission } from "@/server/contract/approvals";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { principalNameSql } from "@/server/domain/organizations";
import { capabilityRequest, commissionQuote } from "@/server/generated/schema";
import { int4, int8, maybe, names, pick, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { readInScope } from "@/server/sql/tenant";
import { mayPay } from "./payer";
import { READ_REQUESTS, toCommissionQuote } from "./rows";

const MOST = 100;

const PAYABLE = "quote.project_id = $projectId AND quote.state = 'active' AND quote.expires_at > $now";
const COUNT = `SELECT count(*)::int AS count FROM commission_quote quote WHERE ${PAYABLE}`;

const readPayable = statement("commission_quote.list.payable", {
  params: { projectId: text, now: timestamptz, limit: int8 },
  row: {
    ...commissionQuote,
    request_hash: text,
    summary: present(maybe(text), "every wording has one, in JSON that the database does not read"),
    ...pick(capabilityRequest, "created_by_kind"),
    asker_id: text,
    asker_name: maybe(text),
    payable_count: int4,
  },
  sql: `SELECT ${names(commissionQuote, "quote")}, quoted.hash AS request_hash, current.body->>'summary' AS summary,
      request.created_by_kind, request.created_by AS asker_id, ${principalNameSql("request.created_by")} AS asker_name,
      (${COUNT}) AS payable_count
    FROM commission_quote quote
    JOIN capability_request_revision quoted ON quoted.id = quote.revision_id
    JOIN capability_request request ON request.id = quote.request_id
    JOIN capability_request_revision current ON current.id = request.current_revision_id
    WHERE ${PAYABLE} ORDER BY quote.expires_at, quote.id LIMIT $limit`,
});

const countQuotes = statement("commission_quote.count.payable", {
  params: { projectId: text, now: timestamptz },
  row: { count: int4 },
  sql: COUNT,
});

/** The commission quotes of a project that can be paid now, earliest expiry first, and the total number. */
export async function listPayable(
  ctx: Ctx,
  projectInPath: string,
): Promise<{ items: WaitingCommission[]; count: number }> {
  const { id: projectId, organizationId } = await access.authorize(ctx, READ_REQUESTS, { projectInPath });
  const now = ctx.now();
  const rows = await readInScope(readPayable, { projectId }, { now, limit: MOST });
  const items = rows.map(
    (row): WaitingCommission => ({
      kind: "commission",
      quote: toCommissionQuote(row, row.request_hash, now),
      summary: row.summary,
      askedBy: { id: row.asker_id, kind: row.created_by_kind, name: row.asker_name },
      mayPay: mayPay(ctx, organizationId),
    }),
  );
  return { items, count: rows[0]?.payable_count ?? 0 };
}

/** Number of commission quotes of a project that can be paid now. */
export async function countPayable(ctx: Ctx, projectInPath: string): Promise<number> {
  const { id: projectId } = await access.authorize(ctx, READ_REQUESTS, { projectInPath });
  const [row] = await readInScope(countQuotes, { projectId }, { now: ctx.now() });
  return row?.count ?? 0;
}
