import type { RequestEventType } from "@/server/contract/webhooks";
import type { Ctx } from "@/server/domain/ctx";
import { type Audience, type News, notify, oneLine, shortened } from "@/server/domain/notifications";
import type { Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { DAY_MS } from "@/server/platform/time/units";
import type { About } from "./payloads";
import { ACCEPTANCE_WINDOW_DAYS, approvalPath, type CommissionQuoteRow, type RequestRow } from "./rows";

type Happening = { id: string; type: RequestEventType; createdAt: Date; payload: Record<string, Json> };
type Notice = { audience: "members" | "operators"; news: Omit<News, "occasion"> };

/** Notifies the people whom an event of a request concerns; most events notify no one. */
export async function notifyOfEvent(
  client: Queryable,
  ctx: Ctx,
  row: RequestRow,
  { event, about }: { event: Happening; about: About },
): Promise<void> {
  for (const { audience, news } of newsOf(row, event, about)) {
    const to: Audience = audience === "operators" ? "operators" : { organizationId: row.organization_id };
    await notify(client, ctx, to, { ...news, occasion: `${event.id}:${audience}` });
  }
}

/** Most characters of the summary in a title; the email has its full text. */
const TITLE_SUMMARY = 80;

/** Only the summary of the request's content is included, because email may be stored anywhere. */
function newsOf(row: RequestRow, { type, createdAt }: Happening, { summary, quote }: About): Notice[] {
  return NEWS[type]({
    row,
    quote,
    createdAt,
    name: `“${shortened(oneLine(summary), TITLE_SUMMARY)}”`,
    request: { label: "Request", value: oneLine(summary) },
    page: { href: requestPath(row), action: "Open request" },
    review: { href: consolePath(row), action: "Open request" },
  });
}

type Telling = Pick<About, "quote"> & {
  row: RequestRow;
  createdAt: Date;
  /** The summary in quotation marks for titles, and as a fact. */
  name: string;
  request: Fact;
  /** The request's page for its organization, and for operators. */
  page: Link;
  review: Link;
};

const NEWS: Record<RequestEventType, (telling: Telling) => Notice[]> = {
  "capability_request.submitted": ({ name, request, review }) => [
    operators({
      kind: "request.submitted",
      title: `For review: ${name}`,
      body: "A customer requested a capability.",
      link: review,
      facts: [request],
    }),
  ],
  "capability_request.quoted"({ name, request, quote, createdAt }) {
    const bought = known(quote);
    return [
      members({
        kind: "commission.quote_ready",
        title: `A quote is ready: ${name}`,
        body: `The capability you requested can be built for ${price(bought)} before tax. Work starts, and money is due, only when a member of your organization pays.`,
        link: { href: approvalPath(bought.id), action: "Open quote" },
        facts: [request, ...offer(bought, createdAt)],
        words: bought.note,
      }),
    ];
  },
  "capability_request.quote_expiring"({ name, request, quote, createdAt }) {
    const bought = known(quote);
    return [
      members({
        kind: "commission.quote_expiring",
        title: `A quote expires soon: ${name}`,
        body: `The quote of ${price(bought)} before tax can be paid until ${moment(bought.expires_at)}. After that you need a new quote.`,
        link: { href: approvalPath(bought.id), action: "Open quote" },
        facts: [request, ...offer(bought, createdAt)],
      }),
    ];
  },
  "capability_request.paid"({ name, request, page, review, quote }) {
    const bought = known(quote);
    const delivery = { label: "Delivery", value: days(bought) };
    const paid = [request, { label: "Price", value: `${price(bought)} before tax` }, delivery];
    return [
      members({
        kind: "commission.paid",
        title: `Paid: ${name}`,
        body: `The commission of ${price(bought)} is paid, and work on the capability has started.`,
        link: page,
        facts: paid,
      }),
      operators({
        kind: "commission.paid",
        title: `Ready to build: ${name}`,
        body: "A commission was paid, and work can start.",
        link: review,
        facts: paid,
      }),
    ];
  },
  "capability_request.fulfilled": ({ name, request, page, row }) => [
    members({
      kind: "commission.fulfilled",
      title: `Shipped: ${name}`,
      body: `The capability you commissioned is available${row.capability_key ? `: ${row.capability_key}` : ""}. If it does not match your request, you can ask for a refund within ${ACCEPTANCE_WINDOW_DAYS} days.`,
      link: page,
      facts: [request, ...(row.capability_key ? [{ label: "Capability", value: row.capability_key }] : [])],
    }),
  ],
  "capability_request.needs_information": ({ name, request, page, row }) => [
    members({
      kind: "request.needs_information",
      title: `More information is needed: ${name}`,
      body: "We need an answer before we can price this request. Answer with a new revision.",
      link: page,
      facts: [request],
      words: row.feedback?.message,
    }),
  ],
  "capability_request.declined": ({ name, request, page, row }) => [
    members({
      kind: "request.declined",
      title: `Declined: ${name}`,
      body: "The capability you requested will not be built.",
      link: page,
      facts: [request],
      words: row.feedback?.message,
    }),
  ],
  "capability_request.refunded"({ name, request, page, quote, row }) {
    const bought = known(quote);
    return [
      members({
        kind: "commission.refunded",
        title: `Refunded: ${name}`,
        body: `The ${price(bought)} of this commission and its tax were refunded to the person who paid. The money arrives in a few days.`,
        link: page,
        facts: [request, { label: "Price", value: `${price(bought)} before tax` }],
        words: row.feedback?.kind === "refunded" ? row.feedback.message : null,
      }),
    ];
  },
  "capability_request.refund_failed"({ name, request, page, quote }) {
    const bought = known(quote);
    return [
      members({
        kind: "commission.refund_failed",
        title: `Refund failed: ${name}`,
        body: `The ${price(bought)} of this commission and its tax are not refunded: either the refund did not reach the person who paid, or their bank decided a dispute for the operator. The money is back at the payment provider, and the request continues as paid.`,
        link: page,
        facts: [request, { label: "Price", value: `${price(bought)} before tax` }],
      }),
    ];
  },
  "capability_request.created": () => [],
  "capability_request.revised": () => [],
  "capability_request.in_review": () => [],
};

type Fact = { label: string; value: string };
type Link = { href: string; action: string };

type Letter = { kind: string; title: string; body: string; link: Link; facts: Fact[]; words?: string | null };

function members({ kind, title, body, link: { href, action }, facts, words }: Letter): Notice {
  const said = words ? { said: { by: "Message from the operator", words } } : {};
  const letter = { facts: facts.map(({ label, value }) => [label, value] as const), action, ...said };
  return { audience: "members", news: { kind, title, body, href, letter } };
}

const operators = (letter: Letter): Notice => ({ ...members(letter), audience: "operators" });

function known(quote: CommissionQuoteRow | null): CommissionQuoteRow {
  if (!quote) throw new Error("A message about a quote needs the quote.");
  return quote;
}

const offer = (quote: CommissionQuoteRow, now: Date): Fact[] => [
  { label: "Price", value: `${price(quote)} before tax` },
  { label: "Delivery", value: days(quote) },
  { label: "Payable until", value: `${moment(quote.expires_at)}, ${inDays(quote.expires_at, now)}` },
];

const days = ({ business_days: count }: CommissionQuoteRow) =>
  `within ${count} business ${count === 1 ? "day" : "days"} of payment`;

/** Formats the price in its currency: $1,250.00, CA$1,250.00. */
const price = ({ price_micros, currency }: CommissionQuoteRow): string =>
  new Intl.NumberFormat("en-US", { style: "currency", currency }).format(price_micros / 1_000_000);

/** Readers are in any time zone, so the date is spelled out and the time is UTC. */
function moment(at: Date): string {
  const day = at.toLocaleDateString("en-GB", { dateStyle: "full", timeZone: "UTC" });
  return `${day}, ${at.toISOString().slice(11, 16)} UTC`;
}

function inDays(at: Date, now: Date): string {
  const count = Math.floor((at.getTime() - now.getTime()) / DAY_MS);
  if (count < 1) return "less than a day from this message";
  return `${count} ${count === 1 ? "day" : "days"} from this message`;
}

/** Paths of the request's page for its organization, and of the one for operators. */
const requestPath = (row: Pick<RequestRow, "id" | "project_id">): string =>
  `/projects/${row.project_id}/requests/${row.id}`;
export const consolePath = (row: Pick<RequestRow, "id">): string => `/operator/requests/${row.id}`;
