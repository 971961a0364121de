import type { RequestEventType } from "@/server/contract/webhooks";
import type { Queryable } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { type Audience, type News, oneLine, shortened, tell } from "@/server/domain/notifications";
import type { Json } from "@/server/step";
import type { About } from "./payloads";
import { ACCEPTANCE_WINDOW_DAYS, approvalPath, type CommissionQuoteRow, type RequestRow } from "./rows";

type Happening = { id: string; type: RequestEventType; createdAt: Date; payload: Record<string, Json> };
type Told = { audience: "members" | "operators"; news: Omit<News, "occasion"> };

/** Tells the people whom an event of a request concerns; of most nobody is told. */
export async function tellOf(
  client: Queryable,
  ctx: Ctx,
  row: RequestRow,
  event: Happening,
  about: About,
): Promise<void> {
  for (const { audience, news } of newsOf(row, event, about)) {
    const to: Audience = audience === "operators" ? "operators" : { organizationId: row.organization_id };
    await tell(client, ctx, to, { ...news, occasion: `${event.id}:${audience}` });
  }
}

/** What a title shows of the summary; the text beside it has more. */
const TITLE_SUMMARY = 80;

/** Of what was asked for, the summary alone is told: mail lies in places we do not know. */
export function newsOf(row: RequestRow, { type, createdAt }: Happening, { summary, quote }: About): Told[] {
  const name = `“${shortened(oneLine(summary), TITLE_SUMMARY)}”`;
  const request = { label: "Request", value: oneLine(summary) };
  const page = { href: requestPath(row), action: "Open the request" };
  const review = { href: consolePath(row), action: "Open the request" };
  switch (type) {
    case "capability_request.submitted":
      return [
        operators("request.submitted", `For review: ${name}`, "A customer asks for a capability.", review, [
          request,
        ]),
      ];
    case "capability_request.quoted": {
      const bought = known(quote);
      return [
        members(
          "commission.quote_ready",
          `A quote is ready: ${name}`,
          `The capability you asked for can be made for ${price(bought)} before tax. Nothing is made, and nothing is owed, until a member of your organization pays.`,
          { href: approvalPath(bought.id), action: "Open the quote" },
          [request, ...offer(bought, createdAt)],
          bought.note,
        ),
      ];
    }
    case "capability_request.quote_expiring": {
      const bought = known(quote);
      return [
        members(
          "commission.quote_expiring",
          `A quote expires soon: ${name}`,
          `The quote of ${price(bought)} before tax can be paid until ${moment(bought.expires_at)}. After that a new one is needed.`,
          { href: approvalPath(bought.id), action: "Open the quote" },
          [request, ...offer(bought, createdAt)],
        ),
      ];
    }
    case "capability_request.paid": {
      const bought = known(quote);
      const delivery = { label: "Delivery", value: days(bought) };
      const paid = [request, { label: "Price", value: `${price(bought)} before tax` }, delivery];
      return [
        members(
          "commission.paid",
          `Paid: ${name}`,
          `The commission of ${price(bought)} is paid, and work on the capability begins.`,
          page,
          paid,
        ),
        operators(
          "commission.paid",
          `To be made: ${name}`,
          "A commission was paid. Its work begins.",
          review,
          paid,
        ),
      ];
    }
    case "capability_request.fulfilled":
      return [
        members(
          "commission.fulfilled",
          `Shipped: ${name}`,
          `The capability you commissioned is there${row.capability_key ? `: ${row.capability_key}` : ""}. If it is not what was asked for, ask for your money back within ${ACCEPTANCE_WINDOW_DAYS} days.`,
          page,
          [request, ...(row.capability_key ? [{ label: "Capability", value: row.capability_key }] : [])],
        ),
      ];
    case "capability_request.needs_information":
      return [
        members(
          "request.needs_information",
          `More information is needed: ${name}`,
          "A question has to be answered before this request can be priced. A new revision of it answers.",
          page,
          [request],
          row.feedback?.message,
        ),
      ];
    case "capability_request.declined":
      return [
        members(
          "request.declined",
          `Declined: ${name}`,
          "The capability you asked for will not be made.",
          page,
          [request],
          row.feedback?.message,
        ),
      ];
    case "capability_request.refunded": {
      const bought = known(quote);
      return [
        members(
          "commission.refunded",
          `Refunded: ${name}`,
          `The ${price(bought)} of this commission, and the tax on it, went back to whoever paid. It takes some days to arrive.`,
          page,
          [request, { label: "Price", value: `${price(bought)} before tax` }],
          row.feedback?.kind === "refunded" ? row.feedback.message : null,
        ),
      ];
    }
    case "capability_request.refund_failed": {
      const bought = known(quote);
      return [
        members(
          "commission.refund_failed",
          `Refund failed: ${name}`,
          `The ${price(bought)} of this commission, and the tax on it, did not reach whoever paid: the payment provider got it back. The operator knows, and looks into it.`,
          page,
          [request, { label: "Price", value: `${price(bought)} before tax` }],
        ),
      ];
    }
    case "capability_request.created":
    case "capability_request.revised":
    case "capability_request.in_review":
      return [];
  }
}

type Fact = { label: string; value: string };
type Link = { href: string; action: string };

function members(
  kind: string,
  title: string,
  body: string,
  { href, action }: Link,
  facts: Fact[],
  words?: string | null,
): Told {
  const said = words ? { said: { by: "The operator writes", words } } : {};
  const letter = { facts: facts.map(({ label, value }) => [label, value] as const), action, ...said };
  return { audience: "members", news: { kind, title, body, href, letter } };
}

const operators = (...news: Parameters<typeof members>): Told => ({
  ...members(...news),
  audience: "operators",
});

function known(quote: CommissionQuoteRow | null): CommissionQuoteRow {
  if (!quote) throw new Error("Nobody can be told of a quote that is not there.");
  return quote;
}

const offer = (quote: CommissionQuoteRow, now: Date): Fact[] => [
  { label: "Price", value: `${price(quote)} before tax` },
  { label: "Delivery", value: days(quote) },
  { label: "Can be paid until", value: `${moment(quote.expires_at)}, ${inDays(quote.expires_at, now)}` },
];

const days = ({ business_days: count }: CommissionQuoteRow) =>
  `within ${count} business ${count === 1 ? "day" : "days"} of payment`;

/** In the words of its currency: $1,250.00, CA$1,250.00. */
const price = ({ price_micros, currency }: CommissionQuoteRow): string =>
  new Intl.NumberFormat("en-US", { style: "currency", currency }).format(price_micros / 1_000_000);

/** Readers are anywhere: the day by name and the time of UTC. */
function moment(at: Date): string {
  const day = at.toLocaleDateString("en-GB", { dateStyle: "full", timeZone: "UTC" });
  return `${day}, ${at.toISOString().slice(11, 16)} UTC`;
}

const DAY_MS = 86_400_000;

function inDays(at: Date, now: Date): string {
  const count = Math.floor((at.getTime() - now.getTime()) / DAY_MS);
  if (count < 1) return "less than a day from this message";
  return `${count} ${count === 1 ? "day" : "days"} from this message`;
}

/** The page of a request for its organization, and the one for operators; from the root. */
export const requestPath = (row: Pick<RequestRow, "id" | "project_id">): string =>
  `/projects/${row.project_id}/requests/${row.id}`;
export const consolePath = (row: Pick<RequestRow, "id">): string => `/operator/requests/${row.id}`;
