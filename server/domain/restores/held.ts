import { ownKeys } from "@/server/contract/own-keys";
import { pool, type Queryable } from "@/server/platform/db";

/*
 * The original may have done since the backup what was unfinished then. So nothing that existed at the restore is worked on
 * or sent until an operator releases its kind.
 */

type Held = {
  /** The rows that are counted, where they are unfinished. */
  table: string;
  unfinished: string;
  /** The rows that flows are woken for. */
  woken: string;
};

/** What is held apart, in the order in which it is shown. */
export const HELD = {
  jobs: { table: "job", unfinished: "completed_at IS NULL", woken: "job" },
  bulks: { table: "pinned_execution", unfinished: "status IN ('queued', 'running')", woken: "pinned_bulk" },
  deliveries: { table: "delivery", unfinished: "state IN ('pending', 'delivering')", woken: "delivery" },
  mails: { table: "mail", unfinished: "state IN ('pending', 'sending')", woken: "mail" },
  refunds: { table: "payment_refund", unfinished: "state = 'pending'", woken: "payment_refund" },
} as const satisfies Record<string, Held>;

export type HeldKind = keyof typeof HELD;
export const HELD_KINDS = ownKeys(HELD);

/**
 * A condition for statements that find work: true of rows that are not held. `createdAt` is their column. Read once for a
 * statement, from a table that is empty unless this installation was restored.
 */
export const notHeld = (kind: HeldKind, createdAt = "created_at"): string =>
  `${createdAt} > coalesce((SELECT before FROM restore_hold WHERE kind = '${kind}'), '-infinity')`;

/** Does a process use this database, or did one within the last minute? It would not notice that work is held. */
export async function isInUse(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM vault_process WHERE seen_at > clock_timestamp() - interval '1 minute'",
  );
  return rowCount !== 0;
}

let isNothingHeld = false;

/**
 * Is the row that a flow was woken for held? Its sweeper does not send it, but a person's decision or a stale wake may. Holds
 * are made while no process runs, so a process that finds none does not look again.
 */
export async function isHeld(kind: HeldKind, id: string): Promise<boolean> {
  if (isNothingHeld) return false;
  const { rows } = await pool.query<{ any: boolean; held: boolean }>(
    `SELECT EXISTS (SELECT FROM restore_hold) AS any,
       EXISTS (SELECT FROM ${HELD[kind].woken} WHERE id = $1 AND NOT (${notHeld(kind)})) AS held`,
    [id],
  );
  isNothingHeld = rows[0]?.any === false;
  return rows[0]?.held === true;
}

/**
 * Holds everything there is, in the caller's transaction, and forgets the runs and processes of the original, which are not
 * here. Rows of an original whose clock was ahead are held, too.
 */
export async function holdAll(client: Queryable): Promise<void> {
  const tables = ["job", "pinned_bulk", "pinned_execution", "delivery", "mail", "payment", "payment_refund"];
  const newest = tables.map((table) => `(SELECT max(created_at) FROM ${table})`);
  await client.query(
    `INSERT INTO restore_hold (kind, before)
     SELECT kind, newest.at FROM unnest($1::text[]) AS kind,
       (SELECT date_trunc('milliseconds', greatest(now(), ${newest.join(", ")})) + interval '1 millisecond') AS newest(at)
     ON CONFLICT (kind) DO UPDATE SET before = excluded.before`,
    [HELD_KINDS],
  );
  await client.query("DELETE FROM run_slot");
  await client.query("DELETE FROM engine_worker");
  await client.query("DELETE FROM vault_process");
  const { rows } = await client.query(
    "SELECT to_regclass('graphile_worker._private_jobs') IS NOT NULL AS exists",
  );
  if (rows[0].exists) await client.query("DELETE FROM graphile_worker._private_jobs");
}
