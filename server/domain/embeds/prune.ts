import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** How long codes, tokens and unused sessions are kept after their end. */
const KEPT_MS = 7 * DAY_MS;
const MOST_AT_ONCE = 1_000;

// The condition covers one month only: sessions that ran something stay, and must not be scanned forever.
const ENDED = "expires_at < $before AND expires_at > $before::timestamptz - interval '720 hours'";

const OLD = { params: { before: timestamptz } };
const pruneOrigins = statement("embed_origin.delete.old", {
  ...OLD,
  sql: "DELETE FROM panel_origin WHERE told_until < $before",
});
const pruneCodes = statement("launch_code.delete.old", {
  ...OLD,
  sql: "DELETE FROM panel_launch_code WHERE expires_at < $before",
});
const pruneTokens = statement("embed_token.delete.ended", {
  ...OLD,
  sql: `DELETE FROM panel_token WHERE session_id IN (SELECT id FROM panel_session WHERE ${ENDED})`,
});
const clearInputs = statement("embed_session.update.cleared", {
  ...OLD,
  sql: `UPDATE panel_session SET initial_inputs = '{}', locked_inputs = '{}'
     WHERE ${ENDED} AND (initial_inputs <> '{}' OR locked_inputs <> '{}')`,
});
/**
 * A window row exists if anything ever counted against the cap, even if all of it was released; such sessions
 * stay.
 */
const pruneUnused = statement("embed_session.delete.unused", {
  ...OLD,
  sql: `WITH unused AS (
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
});

/**
 * Deletes launch codes that expired a week ago, the tokens and inputs of sessions that ended a week ago, and
 * those of these sessions that were never used, with their caps. The spending of a used session stays. Origins
 * whose last session ended a week ago are deleted too.
 */
export async function prune(ctx: Ctx): Promise<void> {
  const before = new Date(ctx.now().getTime() - KEPT_MS);
  await pruneOrigins.run(pool, { before });
  await pruneCodes.run(pool, { before });
  await pruneTokens.run(pool, { before });
  for (;;) if ((await pruneUnused.count(pool, { before })) < MOST_AT_ONCE) break;
  await clearInputs.run(pool, { before });
}
