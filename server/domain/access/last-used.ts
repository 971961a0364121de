import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { column, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const WRITE_AFTER_MS = 5_000;

/** Builds the statement that stores the last use of a key or a session. */
const writeUse = (table: string, used: string) =>
  statement(`${table}.update.${used}`, {
    params: { ids: texts, times: column<Date[]>("timestamptz[]") },
    // Rows are locked in the order of their ids, so that processes writing the same rows cannot deadlock.
    sql: `WITH use AS MATERIALIZED (
       SELECT target.id, at FROM ${table} AS target JOIN unnest($ids::text[], $times::timestamptz[]) AS used (id, at) USING (id)
       ORDER BY id FOR NO KEY UPDATE OF target
     )
     UPDATE ${table} AS target SET ${used} = use.at FROM use
     WHERE target.id = use.id AND (target.${used} IS NULL OR target.${used} < use.at)`,
  });
const USED = { key: writeUse("api_key", "last_used_at"), session: writeUse("session", "last_seen_at") };

const uses = { key: new Map<string, Date>(), session: new Map<string, Date>() };
let timer: NodeJS.Timeout | undefined;

/** Notes the use of a key or a session; it is written with others after a few seconds. */
export function noteUse(kind: keyof typeof USED, id: string, at: Date): void {
  uses[kind].set(id, at);
  timer ??= setTimeout(
    () =>
      writeUses().catch((error) =>
        log.warn({ err: error }, "the last use of keys and sessions could not be written"),
      ),
    WRITE_AFTER_MS,
  ).unref();
}

/** Writes the noted uses now. */
export async function writeUses(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  await Promise.all([write("key"), write("session")]);
}

async function write(kind: keyof typeof USED): Promise<void> {
  const noted = [...uses[kind]];
  if (noted.length === 0) return;
  uses[kind].clear();
  await USED[kind].run(pool, { ids: noted.map(([id]) => id), times: noted.map(([, at]) => at) });
}
