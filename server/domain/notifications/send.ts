import type { Ctx } from "@/server/domain/ctx";
import { mail } from "@/server/generated/schema";
import type { MailResult } from "@/server/mail/define";
import { pool } from "@/server/platform/db";
import { jittered, type RetryResult, retryUntilTerminal, whenDue } from "@/server/platform/durable/retry";
import type { Step } from "@/server/platform/durable/step";
import { loggedCauses } from "@/server/platform/log/logged-causes";
import { failpoint } from "@/server/platform/settings/failpoint";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@/server/platform/time/units";
import { bool, int4, maybe, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { MAIL_REDISPATCH_MS } from "./dispatch";
import { withLink } from "./invitation-link";
import { findMailer, messageDomain } from "./mailer";
import { isOfAccount } from "./visible";

/**
 * The backoff after each failed attempt. If the attempt after the last wait fails too, the email has failed.
 */
export const MAIL_WAITS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  8 * HOUR_MS,
  DAY_MS,
] as const;
/**
 * Lease of a sender, longer than sending may take. A sender that has written nothing for this long is dead,
 * and its email is sent again.
 */
const LEASE_MS = 2 * MINUTE_MS;

/**
 * Sends one email with retries, rereading its row at every step. Delivery is at least once: after a sender dies
 * between sending and recording, the email is sent again under the same Message-ID, by which a mail server can
 * recognize the copy.
 */
export function sendMail(ctx: Ctx, mailId: string, step: Step): Promise<void> {
  return retryUntilTerminal(step, () => attemptMail(ctx, mailId));
}

const CLAIMED = {
  ...pick(mail, "id recipient subject text html attempts created_at lease_until"),
  ...pick(mail, "invitation_id invitation_nonce"),
  is_wanted: bool,
};
type Claimed = Of<typeof CLAIMED>;

const claimMail = statement("mail.claim.due", {
  params: { mailId: text, now: timestamptz },
  row: CLAIMED,
  sql: `UPDATE mail SET state = 'sending', lease_until = ${leaseFor(LEASE_MS)}
     WHERE mail.id = $mailId AND mail.state = 'pending' AND next_attempt_at <= $now
     RETURNING mail.id, recipient, subject, text, html, attempts, mail.created_at, lease_until, invitation_id,
       invitation_nonce, coalesce(
         (SELECT CASE WHEN notice.organization_id IS NULL THEN person.is_operator OR ${isOfAccount("notice")} ELSE EXISTS (
            SELECT FROM membership WHERE user_id = person.id AND organization_id = notice.organization_id) END
          FROM notification notice JOIN user_account person ON person.id = notice.user_id WHERE notice.id = notification_id),
         EXISTS (SELECT FROM invitation WHERE invitation.id = invitation_id AND nonce = invitation_nonce
           AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > $now)) AS is_wanted`,
});

/**
 * Claims a due email and reads whether its recipient still belongs to the audience. Null: not due, ended, or claimed by
 * another sender.
 */
async function claim(mailId: string, now: Date): Promise<Claimed | null> {
  return claimMail.first(pool, { mailId, now });
}

/** One attempt to send a due email, and its outcome. */
export async function attemptMail(ctx: Ctx, mailId: string): Promise<RetryResult> {
  const now = ctx.now();
  const mailer = findMailer();
  if (!mailer) return { state: "ended" }; // the email waits for a mail server
  const claimed = await claim(mailId, now);
  if (!claimed) return later(mailId, now);
  if (!claimed.is_wanted) {
    const reason = "Not sent: this person no longer has access to its subject.";
    return record(ctx, claimed, { state: "refused", reason, cause: reason });
  }
  const { id, recipient: to, subject, created_at: at, invitation_id, invitation_nonce } = claimed;
  const [text, html] = [claimed.text, claimed.html].map((part) =>
    withLink(part, invitation_id, invitation_nonce),
  ) as [string, string]; // two parts were mapped
  const outcome = await mailer.send({ id, domain: messageDomain, to, subject, text, html, at });
  if (outcome.state === "accepted") failpoint("after-mail");
  return record(ctx, claimed, outcome);
}

const nextAttempt = statement("mail.read.next_attempt", {
  params: { mailId: text },
  row: pick(mail, "next_attempt_at"),
  sql: `SELECT next_attempt_at FROM mail WHERE id = $mailId AND state = 'pending'`,
});

async function later(mailId: string, now: Date): Promise<RetryResult> {
  const found = await nextAttempt.first(pool, { mailId });
  return whenDue(found?.next_attempt_at ?? null, now);
}

const recordAttempt = statement("mail.record.attempt", {
  params: {
    mailId: text,
    leaseUntil: mail.lease_until,
    state: mail.state,
    next: maybe(timestamptz),
    leaseMs: maybe(int4),
    lastError: mail.last_error,
    completedAt: maybe(timestamptz),
  },
  sql: `UPDATE mail SET attempts = attempts + 1, state = $state, next_attempt_at = $next,
       lease_until = ${leaseFor("$leaseMs::int")}, last_error = $lastError,
       completed_at = $completedAt
     WHERE id = $mailId AND state = 'sending' AND lease_until = $leaseUntil`,
});

async function record(ctx: Ctx, claimed: Claimed, outcome: MailResult): Promise<RetryResult> {
  const now = ctx.now();
  const waitMs = outcome.state === "not_sent" ? MAIL_WAITS_MS[claimed.attempts] : undefined;
  const afterMs = waitMs === undefined ? null : jittered(waitMs);
  const state = outcome.state === "accepted" ? "sent" : afterMs === null ? "failed" : "pending";
  const next = afterMs === null ? null : new Date(now.getTime() + afterMs);
  const rowCount = await recordAttempt.count(pool, {
    mailId: claimed.id,
    leaseUntil: claimed.lease_until,
    state,
    next,
    leaseMs: afterMs === null ? null : afterMs + MAIL_REDISPATCH_MS,
    lastError: outcome.state === "accepted" ? null : outcome.reason,
    completedAt: next ? null : now,
  });
  logOutcome(ctx, claimed, outcome, state === "failed");
  return rowCount && afterMs !== null ? { state: "again", afterMs } : { state: "ended" };
}

const causes = loggedCauses();
const MAIL = "mail";

/** Each new cause is logged once for all emails, and so is each email that is given up. */
function logOutcome({ log }: Ctx, { id, attempts }: Claimed, outcome: MailResult, isGivenUp: boolean): void {
  if (outcome.state === "accepted") {
    if (causes.clear(MAIL)) log.info({}, "email is being sent again");
    return;
  }
  const { cause } = outcome;
  if (isGivenUp)
    log.warn(
      { mailId: id, tries: attempts + 1, cause },
      "an email could not be delivered and is not tried again",
    );
  else if (causes.isNew(MAIL, cause))
    log.warn({ cause }, "an email could not be sent and will be tried again");
}
