import {
  OperatorAct,
  type QueueCounts,
  type RequestDossier,
  type RevisionRef,
} from "@/server/contract/dossiers";
import type { RequestRevision } from "@/server/contract/requests";
import { pool } from "@/server/db";
import { requireOperator } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { namesOf } from "@/server/domain/organizations";
import { fail } from "@/server/errors";
import { type CommissionQuoteWhole, readQuotes } from "./quotes";
import { events } from "./read";
import {
  findRequest,
  isWithinAcceptance,
  type RequestWhole,
  type RevisionRow,
  stateAt,
  toCommissionQuote,
  toRequest,
  toRevision,
} from "./rows";
import { canMove } from "./transitions";

/** How many requests wait for an operator, and for what. For operators. */
export async function queueCounts(ctx: Ctx): Promise<QueueCounts> {
  requireOperator(ctx);
  const counts: QueueCounts = { submitted: 0, in_review: 0, quoted: 0, paid: 0 };
  const { rows } = await pool.query<{ status: keyof QueueCounts; count: number }>(
    "SELECT status, count(*)::int AS count FROM capability_request WHERE status = ANY($1) GROUP BY status",
    [Object.keys(counts)],
  );
  for (const { status, count } of rows) counts[status] = count;
  return counts;
}

/** One request with everything an operator decides by, and what they can do with it now. For operators. */
export async function dossier(ctx: Ctx, requestId: string): Promise<RequestDossier> {
  requireOperator(ctx);
  const request = await findRequest(ctx, requestId);
  const now = ctx.now();
  const [owners, revisions, quotes, thread] = await Promise.all([
    ownersOf(request),
    revisionsOf(request),
    readQuotes(pool, "WHERE quote.request_id = $1 ORDER BY quote.id DESC", [request.id]),
    events(ctx, request.id),
  ]);
  const people = await namesOf([
    request.created_by,
    ...revisions.map((row) => row.created_by),
    ...quotes.map((row) => row.issued_by),
  ]);
  const known = (id: string) => people.get(id) ?? id;
  return {
    request: toRequest(request),
    ...owners,
    author: known(request.created_by),
    revisions: revisions.map((row) => {
      const { content: _, ...head } = toRevision(row);
      return { ...head, author: known(row.created_by) };
    }),
    quotes: quotes.map((row) => ({
      ...toCommissionQuote(row, row.request_hash, now),
      issuer: known(row.issued_by),
    })),
    events: thread,
    acts: actsOn(request, quotes, now),
  };
}

/** One wording of a request. For operators. */
export async function revision(ctx: Ctx, { requestId, revisionId }: RevisionRef): Promise<RequestRevision> {
  requireOperator(ctx);
  const { rows } = await pool.query<RevisionRow>(
    "SELECT * FROM capability_request_revision WHERE id = $1 AND request_id = $2",
    [revisionId, requestId],
  );
  const [row] = rows;
  return row ? toRevision(row) : fail("NotFound", "There is no such revision of this request.");
}

/** Heads only: of many long wordings the page shows two. */
async function revisionsOf(request: RequestWhole): Promise<RevisionRow[]> {
  const { rows } = await pool.query<RevisionRow>(
    `SELECT id, request_id, organization_id, number, '{}'::jsonb AS body, hash, created_by, created_by_kind, created_at
     FROM capability_request_revision WHERE request_id = $1 ORDER BY number DESC`,
    [request.id],
  );
  return rows;
}

async function ownersOf(request: RequestWhole): Promise<{ organizationName: string; projectName: string }> {
  const { rows } = await pool.query<{ organizationName: string; projectName: string }>(
    `SELECT organization.display_name AS "organizationName", project.display_name AS "projectName"
     FROM project JOIN organization ON organization.id = project.organization_id WHERE project.id = $1`,
    [request.project_id],
  );
  return rows[0] ?? { organizationName: request.organization_id, projectName: request.project_id };
}

/** The acts that would not be refused. */
function actsOn(request: RequestWhole, quotes: CommissionQuoteWhole[], now: Date): OperatorAct[] {
  const { status } = request;
  const isPayable = quotes.some((quote) => stateAt(quote, now) === "active");
  const may: Record<OperatorAct, boolean> = {
    review: canMove(status, "in_review"),
    quote: canMove(status, "quoted") && !isPayable,
    ask: canMove(status, "needs_information"),
    decline: canMove(status, "declined"),
    fulfil: canMove(status, "fulfilled"),
    refund: canMove(status, "refunded") && isWithinAcceptance(request, now),
  };
  return OperatorAct.options.filter((act) => may[act]);
}
