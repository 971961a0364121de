import type { ListOutbox, OutboxMail, OutboxMailDetail, OutboxPage } from "@/server/contract/notifications";
import { pool } from "@/server/db";
import { requireOperator } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
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

/** The mails of this installation, newest first. Operators only. */
export async function outbox(ctx: Ctx, { state, cursor, limit }: ListOutbox): Promise<OutboxPage> {
  requireOperator(ctx);
  const { rows } = await pool.query<Row>(
    `SELECT ${COLUMNS} FROM mail
     WHERE ($1::text IS NULL OR state = $1::text) AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [state ?? null, cursor ?? null, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(toMail),
    isSending: findMailer() !== null,
    ...(rows.length > limit && last ? { nextCursor: last.id } : {}),
  };
}

/** One mail with both of its parts. Operators only. */
export async function outboxMail(ctx: Ctx, mailId: string): Promise<OutboxMailDetail> {
  requireOperator(ctx);
  const { rows } = await pool.query<Row & { text: string; html: string }>(
    `SELECT ${COLUMNS}, text, html FROM mail WHERE id = $1`,
    [mailId],
  );
  const [row] = rows;
  if (!row) fail("NotFound", "There is no such mail.");
  return { ...toMail(row), text: row.text, html: row.html };
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
