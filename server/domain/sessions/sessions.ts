import { Session } from "@/server/contract/sessions";
import { changeAccessBy } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { labelOf } from "./label";
import { currentId, ownId, recordOwn } from "./own";

const BROWSER_DAYS = 14;
/** How long a browser stays signed in, unless an organization of the person asks for less. */
export const BROWSER_SECONDS = BROWSER_DAYS * DAY_SECONDS;

type Begun = Omit<Ctx, "principal">;

/**
 * Begins the session of a browser whose person has proven who they are, under a new id. `version` is that of the person when
 * they did: one whose password was changed meanwhile has a session that never works.
 */
export async function startSession(
  ctx: Begun,
  { userId, version, userAgent }: { userId: string; version: number; userAgent: string | null },
): Promise<string> {
  const [sessionId, now, label] = [newId("session"), ctx.now(), labelOf(userAgent)];
  await inTransaction(async (client) => {
    await client.query(
      `INSERT INTO session (id, user_id, kind, label, address, version, created_at, last_seen_at, expires_at)
       VALUES ($1, $2, 'browser', $3, $4, $5, $6, $6, $6::timestamptz + make_interval(secs => $7))`,
      [sessionId, userId, label, ctx.address ?? "", version, now, BROWSER_SECONDS],
    );
    await recordOwn(
      ctx,
      { userId, action: "session.started", subject: sessionId, details: { label } },
      client,
    );
  });
  return sessionId;
}

type Row = {
  id: string;
  kind: string;
  label: string;
  address: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
};

/** Where the caller is signed in, last seen first. */
export async function listSessions(ctx: Ctx): Promise<Session[]> {
  const { rows } = await pool.query<Row>(
    `SELECT session.* FROM session JOIN user_account ON user_account.id = user_id AND session_version = version
     WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2 ORDER BY last_seen_at DESC, session.id DESC LIMIT 200`,
    [ownId(ctx), ctx.now()],
  );
  const current = currentId(ctx);
  return rows.map((row) => ({
    sessionId: row.id,
    kind: Session.shape.kind.parse(row.kind),
    label: row.label,
    address: row.address || null,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    isCurrent: row.id === current,
  }));
}

/** Ends one session of the caller: no request is served by it once this is answered. NotFound for one that is not theirs or has ended. */
export async function endSession(ctx: Ctx, sessionId: string): Promise<void> {
  const userId = ownId(ctx);
  await changeAccessBy(async (client) => {
    const { rows } = await client.query<{ label: string }>(
      `UPDATE session SET revoked_at = $3 FROM user_account
       WHERE session.id = $1 AND user_id = $2 AND user_account.id = user_id AND session_version = version
         AND revoked_at IS NULL AND expires_at > $3 RETURNING label`,
      [sessionId, userId, ctx.now()],
    );
    const { label } = rows[0] ?? fail("NotFound", "There is no such session.");
    await recordOwn(ctx, { userId, action: "session.ended", subject: sessionId, details: { label } }, client);
  });
}

/** Ends every session of the caller, of browsers and devices. They sign in again. */
export async function signOutEverywhere(ctx: Ctx): Promise<void> {
  const userId = ownId(ctx);
  await changeAccessBy(async (client) => {
    await client.query("UPDATE user_account SET session_version = session_version + 1 WHERE id = $1", [
      userId,
    ]);
    await recordOwn(ctx, { userId, action: "session.all_ended", subject: userId }, client);
  });
}
