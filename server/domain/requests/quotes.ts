import type { CommissionQuote, IssueCommissionQuote, ProjectedPricing } from "@/server/contract/requests";
import { access } from "@/server/domain/access";
import { PRICING_VERSION } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { capabilityRequestRevision, commissionQuote } from "@/server/generated/schema";
import { inTransaction, pool, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { toMoney } from "@/server/platform/money";
import { names, omit, pick, type Shape, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import {
  type CommissionQuoteRow,
  findRequest,
  QUOTE_LIFETIME_MS,
  type RequestRow,
  stateAt,
  toCommissionQuote,
} from "./rows";
import { applyMove, lockRequest, requireMove } from "./transitions";

/** A quote with the hash of the wording that it is for. */
export type CommissionQuoteWhole = CommissionQuoteRow & { request_hash: string };

/** Builds a statement that reads quotes by a condition on `quote`. */
const quotesWhere = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, {
    params,
    row: { ...commissionQuote, request_hash: capabilityRequestRevision.hash },
    sql: `SELECT ${names(commissionQuote, "quote")}, revision.hash AS request_hash FROM commission_quote quote
     JOIN capability_request_revision revision ON revision.id = quote.revision_id WHERE ${condition}`,
  });
const OF_REQUEST = "quote.request_id = $requestId";
export const listQuotes = quotesWhere(
  "commission_quote.list.request",
  { requestId: text },
  `${OF_REQUEST} ORDER BY quote.id DESC`,
);
const readNewest = quotesWhere(
  "commission_quote.read.newest",
  { requestId: text },
  `${OF_REQUEST} ORDER BY quote.id DESC LIMIT 1`,
);
const findPayable = quotesWhere(
  "commission_quote.find.payable",
  { requestId: text, now: timestamptz },
  `${OF_REQUEST} AND quote.state = 'active' AND quote.expires_at > $now`,
);
const readWithHash = quotesWhere("commission_quote.read.with_hash", { quoteId: text }, "quote.id = $quoteId");

/**
 * The newest quote of a request, while it can be paid or if it was. NotFound if there never was one; Gone if
 * it has expired or was superseded.
 */
export async function quote(ctx: Ctx, requestId: string): Promise<CommissionQuote> {
  const request = await findRequest(ctx, requestId);
  const row = await readNewest.first(pool, { requestId: request.id });
  if (!row) return fail("NotFound", "This request has no quote yet.");
  refuseEnded(row, ctx.now());
  return toCommissionQuote(row, row.request_hash, ctx.now());
}

/**
 * Throws Gone (410) if a quote can no longer be paid: it has expired, or its wording or price has been
 * replaced.
 */
export function refuseEnded(row: CommissionQuoteRow, now: Date): void {
  const reason = stateAt(row, now);
  if (reason !== "expired" && reason !== "superseded") return;
  const why = reason === "expired" ? "has expired" : "has been replaced";
  const details = { quoteId: row.id, reason, expiresAt: row.expires_at.toISOString() };
  fail(
    "Gone",
    `The quote ${why} and can no longer be paid. Open the request to see its current quote.`,
    details,
  );
}

const supersede = statement("commission_quote.update.superseded", {
  params: { requestId: text, now: timestamptz },
  row: pick(commissionQuote, "id"),
  sql: `UPDATE commission_quote SET state = 'superseded', ended_at = $now WHERE request_id = $requestId AND state = 'active'
     RETURNING id`,
});

/** Supersedes the active quote of a locked request, and returns its id; null if there is none. */
export async function endActiveQuote(client: Queryable, ctx: Ctx, requestId: string): Promise<string | null> {
  return (await supersede.first(client, { requestId, now: ctx.now() }))?.id ?? null;
}

/**
 * Quotes a price for the wording that an operator has read: for a request in review, or again if its quote
 * has expired. RequestStateConflict if it was reworded since.
 */
export async function issueQuote(ctx: Ctx, input: IssueCommissionQuote): Promise<CommissionQuote> {
  access.authorize(ctx, "operator");
  const id = newId("commissionQuote");
  return inTransaction(async (client) => {
    const row = await lockRequest(client, input.requestId);
    requireMove(row, "quoted");
    if (row.current_revision_id !== input.revisionId)
      conflict(row, "The request was revised in the meantime. Read it again before you quote.");
    const payable = await findPayable.first(client, { requestId: row.id, now: ctx.now() });
    if (payable) conflict(row, "The request already has an open quote. Withdraw it or let it expire first.");
    await endActiveQuote(client, ctx, row.id);
    await insertQuote(client, ctx, row, { id, ...input });
    await applyMove(client, ctx, row, { how: "quoted" });
    const made = await readWithHash.first(client, { quoteId: id });
    if (!made) throw new Error("a quote that was just written does not exist");
    return toCommissionQuote(made, made.request_hash, ctx.now());
  });
}

function conflict(row: RequestRow, message: string): never {
  fail("RequestStateConflict", message, { requestId: row.id, status: row.status });
}

const addQuote = statement("commission_quote.insert", {
  params: omit(commissionQuote, "state", "reminded_at", "ended_at", "payment_id"),
  sql: `INSERT INTO commission_quote (id, request_id, revision_id, organization_id, project_id, state, price_micros, currency,
       runtime_pricing, business_days, note, issued_by, created_at, expires_at)
     VALUES ($id, $request_id, $revision_id, $organization_id, $project_id, 'active', $price_micros, $currency,
       $runtime_pricing, $business_days, $note, $issued_by, $created_at, $expires_at)`,
});

async function insertQuote(
  client: Queryable,
  ctx: Ctx,
  row: RequestRow,
  { id, ...input }: IssueCommissionQuote & { id: string },
): Promise<void> {
  const now = ctx.now();
  await addQuote.run(client, {
    id,
    request_id: row.id,
    revision_id: row.current_revision_id,
    organization_id: row.organization_id,
    project_id: row.project_id,
    price_micros: input.priceMicros,
    currency: input.currency,
    runtime_pricing: projected(input.runtimePricing),
    business_days: input.targetBusinessDays,
    note: input.note || null,
    issued_by: ctx.principal.id,
    created_at: now,
    expires_at: new Date(now.getTime() + QUOTE_LIFETIME_MS),
  });
}

/**
 * The pricing contract of a capability that does not exist yet: it supports no execution quotes and binds no
 * one.
 */
function projected(draft: IssueCommissionQuote["runtimePricing"]): ProjectedPricing {
  return {
    status: "projected",
    mode: draft.mode,
    billingCurrency: draft.billingCurrency,
    display: draft.display,
    pricingVersion: PRICING_VERSION,
    pricingContext: "account",
    estimateRequired: false,
    estimateAvailable: false,
    quoteEndpoint: null,
    estimateEndpoint: null,
    quote: { supported: false, requirements: [] },
    pricingFactors: [],
    startingAt:
      draft.startingAtMicros == null ? null : toMoney(draft.startingAtMicros, draft.billingCurrency),
    examples: [],
    requiresInput: true,
    authoritativeForExecution: false,
    billable: draft.mode !== "free",
  };
}
