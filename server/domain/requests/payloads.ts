import type { RequestEventType } from "@/server/contract/webhooks";
import { commissionQuote } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { toMoney } from "@/server/platform/money";
import { names, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type CommissionQuoteRow, noSuchRequest, type RequestRow } from "./rows";

/** Facts of an event beyond the request's row. */
export type About = {
  /** Summary of the current revision. */
  summary: string;
  /** The newest quote whose stored state is active or paid, even if it has expired; null if there is none. */
  quote: CommissionQuoteRow | null;
};

const readSummary = statement("capability_request_revision.read.summary", {
  params: { revisionId: text },
  row: { summary: present(text, "every wording has one, in JSON that the database does not read") },
  sql: "SELECT body->>'summary' AS summary FROM capability_request_revision WHERE id = $revisionId",
});
const readCurrent = statement("commission_quote.read.current", {
  params: { requestId: text },
  row: commissionQuote,
  sql: `SELECT ${names(commissionQuote)} FROM commission_quote
    WHERE request_id = $requestId AND state IN ('active', 'paid') ORDER BY id DESC LIMIT 1`,
});

export async function aboutOf(client: Queryable, row: RequestRow): Promise<About> {
  const revision = await readSummary.first(client, { revisionId: row.current_revision_id });
  const quote = await readCurrent.first(client, { requestId: row.id });
  return { summary: revision?.summary ?? noSuchRequest(), quote };
}

type Payload = Record<string, Json>;

/**
 * The payload of an event, on the request's page and by webhook. It never has the request's content, because
 * reading that needs a right.
 */
export function payloadOf(
  type: RequestEventType,
  row: RequestRow,
  quote: CommissionQuoteRow | null,
): Payload {
  const request = { requestId: row.id, status: row.status, revisionId: row.current_revision_id };
  switch (type) {
    case "capability_request.created":
    case "capability_request.revised":
    case "capability_request.submitted":
    case "capability_request.in_review":
      return request;
    case "capability_request.needs_information":
    case "capability_request.declined":
      return { ...request, ...said(row) };
    case "capability_request.quoted":
    case "capability_request.quote_expiring":
    case "capability_request.paid":
      return { ...request, ...offered(type, quote) };
    case "capability_request.fulfilled":
    case "capability_request.refund_failed":
      return { ...request, ...offered(type, quote), ...made(row) };
    case "capability_request.refunded":
      return { ...request, ...offered(type, quote), ...made(row), ...said(row) };
  }
}

/** The operator's message, if the request's feedback belongs to its current status. */
const said = (row: RequestRow): Payload =>
  row.feedback && row.feedback.kind === row.status ? { message: row.feedback.message } : {};

const made = (row: RequestRow): Payload =>
  row.capability_key === null ? {} : { capabilityKey: row.capability_key };

function offered(type: RequestEventType, quote: CommissionQuoteRow | null): Payload {
  if (!quote) throw new Error(`${type} is about a quote: store the quote before this event.`);
  return {
    quoteId: quote.id,
    price: toMoney(quote.price_micros, quote.currency),
    targetBusinessDays: quote.business_days,
    expiresAt: quote.expires_at.toISOString(),
  };
}
