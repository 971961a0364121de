import type { Connection, ConnectionHealth } from "@/server/contract/connections";
import { pool } from "@/server/platform/db";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";

const SHOWN_DAYS = 7;
/** In the current hour and the one before it, at least so many failures and no fewer than answers: something is wrong. */
const FAILURES_BEFORE = 3;

type CheckRow = { outcome: ConnectionHealth["checks"][number]["outcome"]; message: string | null; at: Date };
type HourRow = {
  hour: Date;
  answered: number;
  failed: number;
  problem: string | null;
  problem_at: Date | null;
};

/** The health of a connection: what its provider said, the outcomes of its executions, and the resulting state. */
export async function healthOf(
  { id, status }: Pick<Connection, "id" | "status">,
  now: Date,
): Promise<ConnectionHealth> {
  const { rows: checks } = await pool.query<CheckRow>(
    "SELECT outcome, message, at FROM connection_check WHERE credential_id = $1 ORDER BY at DESC, id DESC LIMIT 50",
    [id],
  );
  const { rows: hours } = await pool.query<HourRow>(
    `SELECT hour, answered, failed, problem, problem_at FROM connection_hour
     WHERE credential_id = $1 AND hour > $2 ORDER BY hour DESC`,
    [id, new Date(now.getTime() - SHOWN_DAYS * DAY_MS)],
  );
  const isWrong =
    status === "refused" || (checks[0] && checks[0].outcome !== "ready") || isFailing(hours, now);
  return {
    state: isWrong ? "degraded" : checks.length + hours.length > 0 ? "healthy" : "idle",
    checks: checks.map((check) => ({ ...check, at: check.at.toISOString() })),
    hours: hours.map(({ hour, problem_at, ...counts }) => ({
      ...counts,
      hour: hour.toISOString(),
      problemAt: problem_at?.toISOString() ?? null,
    })),
  };
}

function isFailing(hours: HourRow[], now: Date): boolean {
  const recent = hours.filter(({ hour }) => now.getTime() - hour.getTime() < 2 * HOUR_MS);
  const failed = recent.reduce((sum, each) => sum + each.failed, 0);
  const answered = recent.reduce((sum, each) => sum + each.answered, 0);
  return failed >= FAILURES_BEFORE && failed >= answered;
}
