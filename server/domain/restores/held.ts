import { ownKeys } from "@/server/contract/own-keys";
import { pool, type Queryable } from "@/server/platform/db";
import { bool, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

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

/** One of something for each kind. */
export const forEachKind = <T>(make: (kind: HeldKind) => T): Record<HeldKind, T> => ({
  jobs: make("jobs"),
  bulks: make("bulks"),
  deliveries: make("deliveries"),
  mails: make("mails"),
  refunds: make("refunds"),
});

/**
 * A condition for statements that find work: true of rows that are not held. `createdAt` is their column. Read once for a
 * statement, from a table that is empty unless this installation was restored.
 */
export const notHeld = (kind: HeldKind, createdAt = "created_at"): string =>
  `${createdAt} > coalesce((SELECT before FROM restore_hold WHERE kind = '${kind}'), '-infinity')`;

const findLiveProcess = statement("vault-process.find.live", {
  sql: `SELECT FROM vault_process WHERE seen_at > clock_timestamp() - interval '1 minute'`,
});

/** Does a process use this database, or did one within the last minute? It would not notice that work is held. */
export async function isInUse(db: Queryable): Promise<boolean> {
  const rowCount = await findLiveProcess.count(db, {});
  return rowCount !== 0;
}

const findHeldOf = (kind: HeldKind) =>
  statement(`restore-hold.find.${kind}`, {
    params: { id: text },
    row: { any: bool, held: bool },
    sql: `SELECT EXISTS (SELECT FROM restore_hold) AS any,
       EXISTS (SELECT FROM ${HELD[kind].woken} WHERE id = $id AND NOT (${notHeld(kind)})) AS held`,
  });
const findHeld = forEachKind(findHeldOf);

let isNothingHeld = false;

/**
 * Is the row that a flow was woken for held? Its sweeper does not send it, but a person's decision or a stale wake may. Holds
 * are made while no process runs, so a process that finds none does not look again.
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
const holdKinds = statement("restore-hold.save.all", {
  params: { kinds: texts },
  sql: `INSERT INTO restore_hold (kind, before)
     SELECT kind, newest.at FROM unnest($kinds::text[]) AS kind,
       (SELECT date_trunc('milliseconds', greatest(now(), ${newest.join(", ")})) + interval '1 millisecond') AS newest(at)
     ON CONFLICT (kind) DO UPDATE SET before = excluded.before`,
});

const forgetSlots = statement("run-slot.delete.all", {
  sql: `DELETE FROM run_slot`,
});

const forgetWorkers = statement("engine-worker.delete.all", {
  sql: `DELETE FROM engine_worker`,
});

const forgetProcesses = statement("vault-process.delete.all", {
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
 * Holds everything there is, in the caller's transaction, and forgets the runs and processes of the original, which are not
 * here. Rows of an original whose clock was ahead are held, too.
 */
export async function holdAll(client: Queryable): Promise<void> {
  await holdKinds.run(client, { kinds: HELD_KINDS });
  await forgetSlots.run(client, {});
  await forgetWorkers.run(client, {});
  await forgetProcesses.run(client, {});
  const engine = await findEngine.first(client, {});
  if (engine?.exists) await forgetWakes.run(client, {});
}
