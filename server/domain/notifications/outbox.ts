import type { ListOutbox, OutboxMail, OutboxMailDetail, OutboxPage } from "@/server/contract/notifications";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { withLink } from "./invitation-link";
import { findMailer } from "./mailer";

type Row = {
  id: string;
  recipient: string;
  subject: string;
  state: OutboxMail["state"];
  attempts: number;
  last_error: string | null;
  next_attempt_at: Date | null;
  created_at: Date;
  completed_at: Date | null;
};
const COLUMNS =
  "id, recipient, subject, state, attempts, last_error, next_attempt_at, created_at, completed_at";

/** The installation's emails, newest first. Operators only. */
export async function outbox(ctx: Ctx, { state, cursor, limit }: ListOutbox): Promise<OutboxPage> {
  access.authorize(ctx, "operator");
  const { rows } = await pool.query<Row>(
    `SELECT ${COLUMNS} FROM mail
     WHERE ($1::text IS NULL OR state = $1::text) AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [state ?? null, readCursor("mail", cursor), limit + 1],
  );
  return { ...pageOf(rows, limit, toMail), isSending: findMailer() !== null };
}

/**
 * One email with both of its parts. Operators only. An invitation's link is shown only where no mail server sends it,
 * which is in development; otherwise only its recipient has it.
 */
export async function outboxMail(ctx: Ctx, mailId: string): Promise<OutboxMailDetail> {
  access.authorize(ctx, "operator");
  type Whole = Row & {
    text: string;
    html: string;
    invitation_id: string | null;
    invitation_nonce: string | null;
  };
  const { rows } = await pool.query<Whole>(
    `SELECT ${COLUMNS}, text, html, invitation_id, invitation_nonce FROM mail WHERE id = $1`,
    [mailId],
  );
  const [row] = rows;
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
