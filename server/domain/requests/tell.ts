import type { RequestEventType } from "@/server/contract/webhooks";
import type { Queryable } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { type Audience, type News, tell } from "@/server/domain/notifications";
import type { Json } from "@/server/step";
import type { About } from "./payloads";
import { approvalPath, type RequestRow } from "./rows";

type Told = { audience: "members" | "operators"; news: Omit<News, "occasion"> };
type Happening = { id: string; type: RequestEventType; payload: Record<string, Json> };

/** Tells the people whom an event of a request concerns; of most nobody is told. */
export async function tellOf(
  client: Queryable,
  ctx: Ctx,
  row: RequestRow,
  event: Happening,
  _about: About,
): Promise<void> {
  for (const { audience, news } of newsOf(row, event)) {
    const to: Audience = audience === "operators" ? "operators" : { organizationId: row.organization_id };
    await tell(client, ctx, to, { ...news, occasion: `${event.id}:${audience}` });
  }
}

function newsOf(row: RequestRow, { type, payload }: Happening): Told[] {
  const quote = typeof payload.quoteId === "string" ? approvalPath(payload.quoteId) : requestPath(row);
  switch (type) {
    case "capability_request.submitted":
      return [operators("request.submitted", "A capability request waits for review", consolePath(row))];
    case "capability_request.quoted":
      return [members("commission.quote_ready", "A commission quote is ready", quote)];
    case "capability_request.quote_expiring":
      return [members("commission.quote_expiring", "A commission quote is about to expire", quote)];
    case "capability_request.paid":
      return [
        members("commission.paid", "A commission was paid", requestPath(row)),
        operators("commission.paid", "A commission was paid", consolePath(row)),
      ];
    case "capability_request.fulfilled":
      return [members("commission.fulfilled", "A commissioned capability has shipped", requestPath(row))];
    case "capability_request.needs_information":
      return [
        members("request.needs_information", "A capability request needs information", requestPath(row)),
      ];
    case "capability_request.declined":
      return [members("request.declined", "A capability request was declined", requestPath(row))];
    case "capability_request.refunded":
      return [members("commission.refunded", "A commission was refunded", requestPath(row))];
    case "capability_request.created":
    case "capability_request.revised":
    case "capability_request.in_review":
      return [];
  }
}

const members = (kind: string, title: string, href: string): Told => ({
  audience: "members",
  news: { kind, title, body: "", href },
});
const operators = (kind: string, title: string, href: string): Told => ({
  audience: "operators",
  news: { kind, title, body: "", href },
});

/** The page of a request for its organization, and the one for operators; from the root. */
export const requestPath = (row: Pick<RequestRow, "id" | "project_id">): string =>
  `/projects/${row.project_id}/requests/${row.id}`;
export const consolePath = (row: Pick<RequestRow, "id">): string => `/operator/requests/${row.id}`;
