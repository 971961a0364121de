import { ownKeys } from "@/server/contract/own-keys";
import { pool, type Queryable } from "@/server/platform/db";
import { bool, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/*
 * After the backup was made, the original installation may have finished work that is unfinished in the
 * backup. So after a restore, nothing that existed then is worked on or sent until an operator releases its
 * kind.
 */

type Held = {
  /** The table and the condition of the unfinished rows, which are counted. */
  table: string;
  unfinished: string;
  /** The table of the rows for which flows are woken. */
  woken: string;
};

/** The kinds of work that are held separately, in the order in which they are shown. */
export const HELD_WORK = {
  jobs: { table: "job", unfinished: "completed_at IS NULL", woken: "job" },
  bulks: { table: "pinned_execution", unfinished: "status IN ('queued', 'running')", woken: "pinned_bulk" },
  deliveries: { table: "delivery", unfinished: "state IN ('pending', 'delivering')", woken: "delivery" },
  mails: { table: "mail", unfinished: "state IN ('pending', 'sending')", woken: "mail" },
  refunds: { table: "payment_refund", unfinished: "state = 'pending'", woken: "payment_refund" },
} as const satisfies Record<string, Held>;

export type HeldKind = keyof typeof HELD_WORK;
export const HELD_KINDS = ownKeys(HELD_WORK);

/** Makes a value for each kind. */
export const forEachKind = <T>(make: (kind: HeldKind) => T): Record<HeldKind, T> => ({
  jobs: make("jobs"),
  bulks: make("bulks"),
  deliveries: make("deliveries"),
  mails: make("mails"),
  refunds: make("refunds"),
});

/**
 * Returns a condition that is true of rows that are not held, for statements that find work. `createdAt` is the column
 * with their creation time. The subquery runs once per statement, on a table that is empty unless this installation was
 * restored.
 */
export const notHeld = (kind: HeldKind, createdAt = "created_at"): string =>
  `${createdAt} > coalesce((SELECT before FROM restore_hold WHERE kind = '${kind}'), '-infinity')`;

const findLiveProcess = statement("vault_process.find.live", {
  sql: `SELECT FROM vault_process WHERE seen_at > clock_timestamp() - interval '1 minute'`,
});

/**
 * True if a process uses this database or used it within the last minute. Such a process would not notice that
 * work is held.
 */
export async function isInUse(db: Queryable): Promise<boolean> {
  const rowCount = await findLiveProcess.count(db, {});
  return rowCount !== 0;
}

const findHeldOf = (kind: HeldKind) =>
  statement(`restore_hold.find.${kind}`, {
    params: { id: text },
    row: { any: bool, held: bool },
    sql: `SELECT EXISTS (SELECT FROM restore_hold) AS any,
       EXISTS (SELECT FROM ${HELD_WORK[kind].woken} WHERE id = $id AND NOT (${notHeld(kind)})) AS held`,
  });
const findHeld = forEachKind(findHeldOf);

let isNothingHeld = false;

/**
 * True if the row that a flow was woken for is held. Sweepers skip held rows, but a person's decision or an old
 * wake may still start a flow. Holds are made while no process runs, so a process that finds none does not look again.
 */
export async function isHeld(kind: HeldKind, id: string): Promise<boolean> {
  if (isNothingHeld) return false;
  const found = await findHeld[kind].first(pool, { id });
  isNothingHeld = found?.any === false;
  return found?.held === true;
}

const newest = [
  "job",
  "pinned_bulk",
  "pinned_execution",
  "delivery",
  "mail",
  "payment",
  "payment_refund",
].map((table) => `(SELECT max(created_at) FROM ${table})`);
const holdKinds = statement("restore_hold.save.all", {
  params: { kinds: texts },
  sql: `INSERT INTO restore_hold (kind, before)
     SELECT kind, newest.at FROM unnest($kinds::text[]) AS kind,
       (SELECT date_trunc('milliseconds', greatest(now(), ${newest.join(", ")})) + interval '1 millisecond') AS newest(at)
     ON CONFLICT (kind) DO UPDATE SET before = excluded.before`,
});

const forgetSlots = statement("run_slot.delete.all", {
  sql: `DELETE FROM run_slot`,
});

const forgetWorkers = statement("engine_worker.delete.all", {
  sql: `DELETE FROM engine_worker`,
});

const forgetProcesses = statement("vault_process.delete.all", {
  sql: `DELETE FROM vault_process`,
});

const findEngine = statement("engine.find", {
  row: { exists: bool },
  sql: `SELECT to_regclass('graphile_worker._private_jobs') IS NOT NULL AS exists`,
});

const forgetWakes = statement("engine.delete.wakes", {
  sql: `DELETE FROM graphile_worker._private_jobs`,
});

/**
 * Holds everything that exists, in the caller's transaction, and deletes the run slots, workers, processes and wakes of
 * the original, which do not exist here. Rows are also held if the clock of the original was ahead.
 */
export async function holdAll(client: Queryable): Promise<void> {
  await holdKinds.run(client, { kinds: HELD_KINDS });
  await forgetSlots.run(client, {});
  await forgetWorkers.run(client, {});
  await forgetProcesses.run(client, {});
  const engine = await findEngine.first(client, {});
  if (engine?.exists) await forgetWakes.run(client, {});
}
