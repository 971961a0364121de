import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";

/** So long after their end codes, tokens and sessions that ran nothing are still rows. */
const KEPT_MS = 7 * DAY_MS;
const MOST_AT_ONCE = 1_000;

// Looked for in a month only: those that ran something stay, and are not walked through for ever.
const ENDED = "expires_at < $1 AND expires_at > $1 - interval '720 hours'";

/**
 * Forgets codes, tokens and inputs of sessions that ended a week ago, and whole sessions with their caps where they ran
 * nothing. What a session spent stays with it. Origins that no session is bound to any more are forgotten too.
 */
export async function prune(ctx: Ctx): Promise<void> {
  const before = [new Date(ctx.now().getTime() - KEPT_MS)];
  await pool.query("DELETE FROM panel_origin WHERE told_until < $1", before);
  await pool.query("DELETE FROM panel_launch_code WHERE expires_at < $1", before);
  await pool.query(
    `DELETE FROM panel_token WHERE session_id IN (SELECT id FROM panel_session WHERE ${ENDED})`,
    before,
  );
  for (;;) if ((await pruneUnused(before)) < MOST_AT_ONCE) break;
  await pool.query(
    `UPDATE panel_session SET initial_inputs = '{}', locked_inputs = '{}'
     WHERE ${ENDED} AND (initial_inputs <> '{}' OR locked_inputs <> '{}')`,
    before,
  );
}

/** Where anything counted against its cap there is a window, even when everything was released. */
async function pruneUnused(before: Date[]): Promise<number> {
  const { rowCount } = await pool.query(
    `WITH unused AS (
       SELECT id, organization_id FROM panel_session session
       WHERE ${ENDED} AND admitted_jobs = 0
         AND NOT EXISTS (SELECT FROM panel_token WHERE session_id = session.id)
         AND NOT EXISTS (SELECT FROM panel_launch_code WHERE session_id = session.id)
         AND NOT EXISTS (SELECT FROM budget JOIN budget_window ON budget_id = budget.id
           WHERE organization_id = session.organization_id AND scope = 'principal:' || session.id)
       LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED),
     caps AS (DELETE FROM budget USING unused
       WHERE budget.organization_id = unused.organization_id AND budget.scope = 'principal:' || unused.id)
     DELETE FROM panel_session USING unused WHERE panel_session.id = unused.id`,
    before,
  );
  return rowCount ?? 0;
}
