import type { Ctx } from "@/server/domain/ctx";
import { closeDue, dispatchRefunds } from "@/server/domain/payments";
import { notHeld } from "@/server/domain/restores";
import { inTransaction, pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { DAY_MS } from "@/server/platform/time/units";
import { COMMISSION } from "./commission";
import { lockRequest, recordRequestEvent } from "./transitions";

const MOST = 200;
/** So long before a quote expires its people are reminded. */
const REMINDER_MS = 3 * DAY_MS;

/**
 * One pass over what no one else will move: refunds that wait for the provider, checkouts of quotes that can be paid no
 * more, quotes that are about to expire. Safe in every process at once. `projectId` keeps it to one project's organization.
 */
export async function sweep(ctx: Ctx, { projectId }: { projectId?: string } = {}): Promise<void> {
  const organizationId = projectId === undefined ? null : await organizationOf(projectId);
  await hurrySuperseded(ctx.now(), organizationId);
  await closeDue(ctx, organizationId);
  await remindDue(ctx, organizationId);
  await dispatchRefunds(ctx.now(), organizationId);
}

async function organizationOf(projectId: string): Promise<string | null> {
  const { rows } = await pool.query<{ organization_id: string }>(
    "SELECT organization_id FROM project WHERE id = $1",
    [projectId],
  );
  return rows[0]?.organization_id ?? "";
}

/** A checkout closes at its quote's end; one whose quote ended before that closes now. */
async function hurrySuperseded(now: Date, organizationId: string | null): Promise<void> {
  await pool.query(
    `UPDATE payment SET close_at = $1 FROM commission_quote quote
     WHERE payment.kind = '${COMMISSION}' AND payment.state = 'open' AND payment.close_at = payment.expires_at
       AND payment.close_at > $1 AND quote.id = payment.subject_id AND quote.state <> 'active'
       AND ($2::text IS NULL OR payment.organization_id = $2)`,
    [now, organizationId],
  );
}

async function remindDue(ctx: Ctx, organizationId: string | null): Promise<void> {
  const now = ctx.now();
  const { rows } = await pool.query<{ id: string; request_id: string }>(
    `SELECT id, request_id FROM commission_quote
     WHERE state = 'active' AND reminded_at IS NULL AND expires_at > $1 AND expires_at <= $2
       AND ($3::text IS NULL OR organization_id = $3) AND ${notHeld("mails")}
     ORDER BY expires_at LIMIT ${MOST}`,
    [now, new Date(now.getTime() + REMINDER_MS), organizationId],
  );
  for (const { id, request_id } of rows)
    await remind(ctx, id, request_id).catch((cause) =>
      log.error({ err: cause, quoteId: id }, "a quote reminder could not be sent; the next run tries again"),
    );
}

/** Reports a quote that is about to expire, once. */
async function remind(ctx: Ctx, quoteId: string, requestId: string): Promise<void> {
  await inTransaction(async (client) => {
    const request = await lockRequest(client, requestId);
    const { rows } = await client.query<{ expires_at: Date }>(
      `UPDATE commission_quote SET reminded_at = $2
       WHERE id = $1 AND state = 'active' AND reminded_at IS NULL AND expires_at > $2 RETURNING expires_at`,
      [quoteId, ctx.now()],
    );
    if (!rows[0]) return;
    const payload = { quoteId, expiresAt: rows[0].expires_at.toISOString() };
    await recordRequestEvent(client, ctx, request, { type: "capability_request.quote_expiring", payload });
  });
}
