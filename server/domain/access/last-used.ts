import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";

const WRITE_AFTER_MS = 5_000;

/** What remembers its last use, and where. */
const USED = {
  key: { table: "api_key", column: "last_used_at" },
  session: { table: "session", column: "last_seen_at" },
} as const;

const uses = { key: new Map<string, Date>(), session: new Map<string, Date>() };
let timer: NodeJS.Timeout | undefined;

/** Notes that a key or a session was used; written down with others after a few seconds. */
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
  const { table, column } = USED[kind];
  await pool.query(
    // Locked in the order of ids: processes that write the same rows at once must not wait for each other in a circle.
    `WITH use AS MATERIALIZED (
       SELECT target.id, at FROM ${table} AS target JOIN unnest($1::text[], $2::timestamptz[]) AS used (id, at) USING (id)
       ORDER BY id FOR NO KEY UPDATE OF target
     )
     UPDATE ${table} AS target SET ${column} = use.at FROM use
     WHERE target.id = use.id AND (target.${column} IS NULL OR target.${column} < use.at)`,
    [noted.map(([id]) => id), noted.map(([, at]) => at)],
  );
}
