import { apiKey, correctedTime } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import { int4, int8, type Of, pick, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** How many keys are named. */
const MOST = 50;

const ROW = {
  ...pick(apiKey, "id name prefix expires_at revoked_at"),
  moved_seconds: correctedTime.moved_seconds,
  total: int4,
};
type Row = Of<typeof ROW>;

const listMoved = statement("corrected_time.list.keys", {
  params: { now: timestamptz, limit: int8 },
  row: ROW,
  sql: `SELECT id, name, prefix, moved_seconds, expires_at, revoked_at, count(*) OVER ()::int AS total
     FROM corrected_time JOIN api_key ON id = row_id
     WHERE table_name = 'api_key' AND corrected_at > $now::timestamptz - interval '2160 hours' ORDER BY id DESC LIMIT $limit`,
});

const countLater = statement("api_key.count.in_another_zone", {
  row: { count: int4 },
  sql: `SELECT count(*)::int FROM api_key WHERE capstan_zone_error(created_at, capstan_time_of_id(id)) IS NOT NULL`,
});

/**
 * Sentences for the operator about times that an earlier version stored in another zone than UTC: the keys whose times the
 * migration has moved within the last 90 days, and keys that a process of that version has created since. Sessions and
 * invitations were always stored right.
 */
export async function correctedTimes(db: Queryable, now = new Date()): Promise<string[]> {
  const rows = await listMoved.all(db, { now, limit: MOST });
  const off = await countLater.all(db, {});
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
