import type { WaitingCommission } from "@/server/contract/approvals";
import { access } from "@/server/domain/access";
import type { Ctx, PrincipalKind } from "@/server/domain/ctx";
import { namesOf } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { mayPay } from "./payer";
import { type CommissionQuoteWhole, readQuotes } from "./quotes";
import { READ, toCommissionQuote } from "./rows";

const MOST = 100;

/** The commission quotes of a project that can be paid now, whose time has ended first; and how many there are. */
export async function listPayable(
  ctx: Ctx,
  projectId: string,
): Promise<{ items: WaitingCommission[]; count: number }> {
  const project = await access.authorize(ctx, READ, { projectInPath: projectId });
  const now = ctx.now();
  const found = await readQuotes(
    pool,
    `WHERE quote.project_id = $1 AND quote.state = 'active' AND quote.expires_at > $2
     ORDER BY quote.expires_at, quote.id LIMIT $3`,
    [project.id, now, MOST + 1],
  );
  const quotes = found.slice(0, MOST);
  const asked = await askedBy(quotes);
  const items = quotes.flatMap((quote): WaitingCommission[] => {
    const about = asked.get(quote.request_id);
    if (!about) return [];
    return [
      {
        kind: "commission",
        quote: toCommissionQuote(quote, quote.request_hash, now),
        ...about,
        mayPay: mayPay(ctx, project.organizationId),
      },
    ];
  });
  return { items, count: found.length <= MOST ? found.length : await count(project.id, now) };
}

type About = Pick<WaitingCommission, "summary" | "askedBy">;

async function askedBy(quotes: CommissionQuoteWhole[]): Promise<Map<string, About>> {
  const { rows } = await pool.query<{
    id: string;
    summary: string;
    created_by: string;
    created_by_kind: PrincipalKind;
  }>(
    `SELECT request.id, revision.body->>'summary' AS summary, request.created_by, request.created_by_kind
     FROM capability_request request
     JOIN capability_request_revision revision ON revision.id = request.current_revision_id
     WHERE request.id = ANY($1)`,
    [quotes.map(({ request_id }) => request_id)],
  );
  const names = await namesOf(rows.map(({ created_by }) => created_by));
  return new Map(
    rows.map((row) => [
      row.id,
      {
        summary: row.summary,
        askedBy: { id: row.created_by, kind: row.created_by_kind, name: names.get(row.created_by) ?? null },
      },
    ]),
  );
}

/** How many commission quotes of a project can be paid now. */
export async function countPayable(ctx: Ctx, projectId: string): Promise<number> {
  return count((await access.authorize(ctx, READ, { projectInPath: projectId })).id, ctx.now());
}

async function count(projectId: string, now: Date): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM commission_quote
     WHERE project_id = $1 AND state = 'active' AND expires_at > $2`,
    [projectId, now],
  );
  return rows[0]?.count ?? 0;
}
