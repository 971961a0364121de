import { pool } from "@/server/db";
import { log } from "@/server/log";

const WRITE_AFTER_MS = 5_000;

const uses = new Map<string, Date>();
let timer: NodeJS.Timeout | undefined;

/** Notes that a key was used; written down with others after a few seconds. */
export function noteUse(keyId: string, at: Date): void {
  uses.set(keyId, at);
  timer ??= setTimeout(
    () => writeUses().catch((error) => log.warn({ err: error }, "last use of keys was not written")),
    WRITE_AFTER_MS,
  ).unref();
}

/** Writes the noted uses now. */
export async function writeUses(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  if (uses.size === 0) return;
  const ids = [...uses.keys()];
  const times = [...uses.values()];
  uses.clear();
  await pool.query(
    // Locked in the order of ids: processes that write the same keys at once must not wait for each other in a circle.
    `WITH use AS MATERIALIZED (
       SELECT api_key.id, at FROM api_key JOIN unnest($1::text[], $2::timestamptz[]) AS used (id, at) USING (id)
       ORDER BY id FOR NO KEY UPDATE OF api_key
     )
     UPDATE api_key SET last_used_at = use.at FROM use
     WHERE api_key.id = use.id AND (last_used_at IS NULL OR last_used_at < use.at)`,
    [ids, times],
  );
}
