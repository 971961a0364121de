import type { ListOutbox, OutboxMail, OutboxMailDetail, OutboxPage } from "@/server/contract/notifications";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { mail } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { int8, maybe, names, type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { withLink } from "./invitation-link";
import { findMailer } from "./mailer";

const ROW = pick(
  mail,
  "id recipient subject state attempts last_error next_attempt_at created_at completed_at",
);
type Row = Of<typeof ROW>;

const listMails = statement("mail.list", {
  params: { state: maybe(mail.state), after: maybe(text), limit: int8 },
  row: ROW,
  sql: `SELECT ${names(ROW)} FROM mail
     WHERE ($state::text IS NULL OR state = $state::text) AND ($after::text IS NULL OR id < $after) ORDER BY id DESC LIMIT $limit`,
});

/** The installation's emails, newest first. Operators only. */
export async function outbox(ctx: Ctx, { state, cursor, limit }: ListOutbox): Promise<OutboxPage> {
  access.authorize(ctx, "operator");
  const rows = await listMails.all(pool, { state, after: readCursor("mail", cursor), limit: limit + 1 });
  return { ...toPage(rows, limit, toMail), isSending: findMailer() !== null };
}

const WHOLE = { ...ROW, ...pick(mail, "text html invitation_id invitation_nonce") };
const readMail = statement("mail.read", {
  params: { mailId: text },
  row: WHOLE,
  sql: `SELECT ${names(WHOLE)} FROM mail WHERE id = $mailId`,
});

/**
 * One email with both of its parts. Operators only. An invitation's link is shown only where no mail server sends it,
 * which is in development; otherwise only its recipient has it.
 */
export async function outboxMail(ctx: Ctx, mailId: string): Promise<OutboxMailDetail> {
  access.authorize(ctx, "operator");
  const row = await readMail.first(pool, { mailId });
  if (!row) fail("NotFound", "This email does not exist.");
  const shown = (part: string) =>
    row.state === "kept" ? withLink(part, row.invitation_id, row.invitation_nonce) : part;
  return { ...toMail(row), text: shown(row.text), html: shown(row.html) };
}

const toMail = (row: Row): OutboxMail => ({
  mailId: row.id,
  recipient: row.recipient,
  subject: row.subject,
  state: row.state,
  attempts: row.attempts,
  lastError: row.last_error,
  nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  completedAt: row.completed_at?.toISOString() ?? null,
});
