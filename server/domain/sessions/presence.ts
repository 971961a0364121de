import type { Ctx } from "@/server/domain/ctx";
import { countTry, deleteSignInFailures, isPassword } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { int4, maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { currentId, refuseField } from "./own";

/** A person without a password counts as present for this long after signing in. */
const RECENT_MINUTES = 15;

const findRecent = statement("session.find.recent", {
  params: { sessionId: maybe(text), now: timestamptz, minutes: int4 },
  sql: `SELECT FROM session WHERE id = $sessionId AND created_at > $now::timestamptz - make_interval(mins => $minutes)`,
});

/**
 * Throws unless the caller gives their password or, if they have none, has just signed in, because an open browser
 * alone must not change how its owner signs in. Guesses are limited as at sign-in.
 */
export async function requirePresence(
  ctx: Ctx,
  {
    userId,
    passwordHash,
    password = "",
  }: { userId: string; passwordHash: string | null; password?: string | undefined },
): Promise<void> {
  if (passwordHash !== null) {
    const entries = await countTry([`own:${userId}`], ctx.now());
    if (!(await isPassword(password, passwordHash))) refuseField("password", "The password is not correct.");
    return deleteSignInFailures(entries);
  }
  const rowCount = await findRecent.count(pool, {
    sessionId: currentId(ctx),
    now: ctx.now(),
    minutes: RECENT_MINUTES,
  });
  if (rowCount === 0)
    fail("AuthorizationFailed", "This needs a recent sign-in. Sign out, sign in again and retry.", {
      reason: "stale_sign_in",
    });
}
