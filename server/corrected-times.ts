import type { Queryable } from "@/server/platform/db";

/** How many keys are named. */
const MOST = 50;

type Row = {
  id: string;
  name: string;
  prefix: string;
  moved_seconds: number;
  expires_at: Date | null;
  revoked_at: Date | null;
  total: number;
};

/**
 * Sentences for the operator about times that an earlier version stored in another zone than UTC: the keys whose times the
 * migration has moved within the last 90 days, and keys that a process of that version has created since. Sessions and
 * invitations were always stored right.
 */
export async function correctedTimes(db: Queryable, now = new Date()): Promise<string[]> {
  const { rows } = await db.query<Row>(
    `SELECT id, name, prefix, moved_seconds, expires_at, revoked_at, count(*) OVER ()::int AS total
     FROM corrected_time JOIN api_key ON id = row_id
     WHERE table_name = 'api_key' AND corrected_at > $1::timestamptz - interval '2160 hours' ORDER BY id DESC LIMIT $2`,
    [now, MOST],
  );
  const { rows: off } = await db.query<{ count: number }>(
    "SELECT count(*)::int FROM api_key WHERE capstan_zone_error(created_at, capstan_time_of_id(id)) IS NOT NULL",
  );
  const keys = rows.map(
    (row) => `${row.id} (${row.name}, ${row.prefix}…) by ${hoursOf(row)}: ${stateOf(row, now)}`,
  );
  const total = rows[0]?.total ?? 0;
  const unnamed =
    total > rows.length ? [`and ${total - rows.length} more: see the table corrected_time`] : [];
  const late = off[0]?.count ?? 0;
  return [
    ...(total > 0
      ? [
          `The times of ${total} API keys were moved to UTC. Revoke the ones that should no longer work:`,
          ...keys,
          ...unnamed,
        ]
      : []),
    ...(late > 0
      ? [
          `${late} API keys have times in another zone: a process of an earlier version has created them. Stop it, then run in the database: SELECT capstan_correct_times();`,
        ]
      : []),
  ];
}

const hoursOf = ({ moved_seconds }: Row) => `${-moved_seconds / 3_600} h`;

function stateOf({ expires_at, revoked_at }: Row, now: Date): string {
  if (revoked_at) return `revoked ${revoked_at.toISOString()}`;
  if (!expires_at) return "never expires";
  return `${expires_at <= now ? "expired" : "expires"} ${expires_at.toISOString()}`;
}
