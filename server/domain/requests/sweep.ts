import type { Ctx } from "@/server/domain/ctx";
import { closeDue, dispatchRefunds } from "@/server/domain/payments";
import { notHeld } from "@/server/domain/restores";
import { commissionQuote, project } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { DAY_MS } from "@/server/platform/time/units";
import { maybe, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { COMMISSION } from "./commission";
import { lockRequest, recordRequestEvent } from "./transitions";

const MOST = 200;
/** How long before the expiry of a quote its organization is reminded. */
const REMINDER_MS = 3 * DAY_MS;

/**
 * One pass over work that nothing else moves: refunds that wait for the provider, checkouts of quotes that
 * can no longer be paid, quotes that are about to expire. Safe in concurrent processes. `projectId` limits it
 * to one project's organization.
 */
export async function sweep(ctx: Ctx, { projectId }: { projectId?: string } = {}): Promise<void> {
  const organizationId = projectId === undefined ? null : await organizationOf(projectId);
  await hurrySuperseded(ctx.now(), organizationId);
  await closeDue(ctx, organizationId);
  await remindDue(ctx, organizationId);
  await dispatchRefunds(ctx.now(), organizationId);
}

const readOwner = statement("project.read.owner", {
  params: { projectId: text },
  row: pick(project, "organization_id"),
  sql: "SELECT organization_id FROM project WHERE id = $projectId",
});

async function organizationOf(projectId: string): Promise<string | null> {
  return (await readOwner.first(pool, { projectId }))?.organization_id ?? "";
}

const closeEarly = statement("payment.update.close_early", {
  params: { now: timestamptz, organizationId: maybe(text) },
  sql: `UPDATE payment SET close_at = $now FROM commission_quote quote
     WHERE payment.kind = '${COMMISSION}' AND payment.state = 'open' AND payment.close_at = payment.expires_at
       AND payment.close_at > $now AND quote.id = payment.subject_id AND quote.state <> 'active'
       AND ($organizationId::text IS NULL OR payment.organization_id = $organizationId)`,
});

/**
 * A checkout closes at its quote's expiry. If the quote ended before, this makes the checkout due to close
 * now.
 */
async function hurrySuperseded(now: Date, organizationId: string | null): Promise<void> {
  await closeEarly.run(pool, { now, organizationId });
}

const listExpiring = statement("commission_quote.list.expiring", {
  params: { now: timestamptz, until: timestamptz, organizationId: maybe(text) },
  row: pick(commissionQuote, "id request_id"),
  sql: `SELECT id, request_id FROM commission_quote
     WHERE state = 'active' AND reminded_at IS NULL AND expires_at > $now AND expires_at <= $until
       AND ($organizationId::text IS NULL OR organization_id = $organizationId) AND ${notHeld("mails")}
     ORDER BY expires_at LIMIT ${MOST}`,
});

async function remindDue(ctx: Ctx, organizationId: string | null): Promise<void> {
  const now = ctx.now();
  const rows = await listExpiring.all(pool, {
    now,
    until: new Date(now.getTime() + REMINDER_MS),
    organizationId,
  });
  for (const { id, request_id } of rows)
    await remind(ctx, id, request_id).catch((cause) =>
      log.error({ err: cause, quoteId: id }, "a quote reminder could not be sent; the next run tries again"),
    );
}

const markReminded = statement("commission_quote.update.reminded", {
  params: { quoteId: text, now: timestamptz },
  row: pick(commissionQuote, "expires_at"),
  sql: `UPDATE commission_quote SET reminded_at = $now
       WHERE id = $quoteId AND state = 'active' AND reminded_at IS NULL AND expires_at > $now RETURNING expires_at`,
});

/** Reports once that a quote is about to expire. */
async function remind(ctx: Ctx, quoteId: string, requestId: string): Promise<void> {
  await inTransaction(async (client) => {
    const request = await lockRequest(client, requestId);
    const reminded = await markReminded.first(client, { quoteId, now: ctx.now() });
    if (!reminded) return;
    const payload = { quoteId, expiresAt: reminded.expires_at.toISOString() };
    await recordRequestEvent(client, ctx, request, { type: "capability_request.quote_expiring", payload });
  });
}
