import type { OutboxMail } from "@/server/contract/notifications";
import { access } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { outboxMail } from "./outbox";

const retryFailed = statement("mail.update.retried", {
  params: { mailId: text, now: timestamptz },
  row: { organization_id: maybe(text) },
  sql: `UPDATE mail SET state = 'pending', attempts = 0, next_attempt_at = $now, lease_until = NULL, completed_at = NULL
       WHERE id = $mailId AND state = 'failed'
       RETURNING coalesce((SELECT organization_id FROM notification WHERE id = notification_id),
         (SELECT organization_id FROM invitation WHERE id = invitation_id)) AS organization_id`,
});

/**
 * Retries a failed email from its first attempt. Operators only. As for every email, sending checks whether
 * the recipient still belongs to the audience. Calling it twice retries once.
 */
export async function resendMail(ctx: Ctx, mailId: string): Promise<OutboxMail> {
  access.authorize(ctx, "operator");
  const known = await outboxMail(ctx, mailId);
  await inTransaction(async (client) => {
    const rows = await retryFailed.all(client, { mailId, now: ctx.now() });
    const [again] = rows;
    if (!again) {
      if (known.state === "failed") return; // someone else retried it meanwhile
      fail("InvalidInput", `Only a failed email can be sent again, and this one is ${known.state}.`);
    }
    const organizationId = again.organization_id ?? INSTALLATION;
    const details = { recipient: known.recipient, subject: known.subject };
    await record(ctx, { organizationId, action: "mail.resent", subject: mailId, details }, client);
  });
  const { text: _text, html: _html, ...mail } = await outboxMail(ctx, mailId);
  return mail;
}
