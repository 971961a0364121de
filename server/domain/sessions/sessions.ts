import { Session } from "@/server/contract/sessions";
import { changeAccess } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { session } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { column, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { browserLabel } from "./label";
import { currentId, ownId, recordOwn } from "./own";

const BROWSER_DAYS = 14;
/** A browser stays signed in this long, unless an organization of the person requires less. */
export const BROWSER_SECONDS = BROWSER_DAYS * DAY_SECONDS;

type Begun = Omit<Ctx, "principal">;

const insertSession = statement("session.insert.browser", {
  params: {
    sessionId: session.id,
    userId: session.user_id,
    label: session.label,
    address: session.address,
    version: session.version,
    now: timestamptz,
    seconds: column<number>("float8"),
  },
  sql: `INSERT INTO session (id, user_id, kind, label, address, version, created_at, last_seen_at, expires_at)
       VALUES ($sessionId, $userId, 'browser', $label, $address, $version, $now, $now, $now::timestamptz + make_interval(secs => $seconds))`,
});

/**
 * Begins a browser's session under a new id, for a person who has proven their identity, and returns the id. `version`
 * is the person's version at that time, so a session whose person changed their password meanwhile never works.
 */
export async function startSession(
  ctx: Begun,
  { userId, version, userAgent }: { userId: string; version: number; userAgent: string | null },
): Promise<string> {
  const [sessionId, now, label] = [newId("session"), ctx.now(), browserLabel(userAgent)];
  await inTransaction(async (client) => {
    await insertSession.run(client, {
      sessionId,
      userId,
      label,
      address: ctx.address ?? "",
      version,
      now,
      seconds: BROWSER_SECONDS,
    });
    await recordOwn(
      ctx,
      { userId, action: "session.started", subject: sessionId, details: { label } },
      client,
    );
  });
  return sessionId;
}

const listOpen = statement("session.list.open", {
  params: { userId: text, now: timestamptz },
  row: pick(session, "id kind label address created_at last_seen_at expires_at"),
  sql: `SELECT session.id, kind, label, address, session.created_at, last_seen_at, expires_at
     FROM session JOIN user_account ON user_account.id = user_id AND session_version = version
     WHERE user_id = $userId AND revoked_at IS NULL AND expires_at > $now ORDER BY last_seen_at DESC, session.id DESC LIMIT 200`,
});

/** Returns the caller's sessions that work, the last seen first. */
export async function listSessions(ctx: Ctx): Promise<Session[]> {
  const rows = await listOpen.all(pool, { userId: ownId(ctx), now: ctx.now() });
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

const revokeSession = statement("session.revoke.own", {
  params: { sessionId: text, userId: text, now: timestamptz },
  row: { label: session.label },
  sql: `UPDATE session SET revoked_at = $now FROM user_account
       WHERE session.id = $sessionId AND user_id = $userId AND user_account.id = user_id AND session_version = version
         AND revoked_at IS NULL AND expires_at > $now RETURNING label`,
});

/**
 * Ends one session of the caller. It serves no request once this resolves. Throws `NotFound` for a session that has
 * ended or belongs to another person.
 */
export async function endSession(ctx: Ctx, sessionId: string): Promise<void> {
  const userId = ownId(ctx);
  await changeAccess(async (client) => {
    const { label } =
      (await revokeSession.first(client, { sessionId, userId, now: ctx.now() })) ??
      fail("NotFound", "There is no such session.");
    await recordOwn(ctx, { userId, action: "session.ended", subject: sessionId, details: { label } }, client);
  });
}

const revokeAll = statement("session.revoke.all", {
  params: { userId: text },
  sql: `UPDATE user_account SET session_version = session_version + 1 WHERE id = $userId`,
});

/** Ends every session of the caller, in browsers and on devices. */
export async function signOutEverywhere(ctx: Ctx): Promise<void> {
  const userId = ownId(ctx);
  await changeAccess(async (client) => {
    await revokeAll.run(client, { userId });
    await recordOwn(ctx, { userId, action: "session.all_ended", subject: userId }, client);
  });
}
