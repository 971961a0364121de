import { pool, type Queryable } from "@/server/platform/db";
import { artifactStore } from "./store";
import type { Stored } from "./store-port";

/*
 * Everyone who stored content owns it, so it is removed only when no row names it. A removal holds its lock
 * from that check to the end; a writer that is about to name the content announces its row under the lock, or
 * checks afterwards.
 */

const KEY = (sha256: string) => `content\n${sha256}`;

/** Locks content until the end of the transaction: announcing it waits for its removal, and vice versa. */
export async function lockContent(database: Queryable, sha256: string): Promise<void> {
  await database.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [KEY(sha256)]);
}

/**
 * Keeps contents whose rows are written later. A removal may have checked one of them before this put renewed
 * its age: this waits for such removals and stores the removed contents again. Later removals skip young
 * content.
 */
export async function keepContents(contents: readonly Uint8Array[]): Promise<Stored[]> {
  if (contents.length === 0) return [];
  const store = artifactStore();
  const kept = await Promise.all(contents.map((bytes) => store.put(bytes)));
  await pool.query(
    "SELECT pg_advisory_xact_lock_shared(hashtextextended(key, 0)) FROM unnest($1::text[]) AS x(key)",
    [kept.map(({ sha256 }) => KEY(sha256))],
  );
  await Promise.all(
    kept.map(async ({ sha256 }, place) => {
      const bytes = contents[place];
      if (bytes && !(await store.stat(sha256))) await store.put(bytes);
    }),
  );
  return kept;
}

const COPYING = "hashtextextended('contents are copied', 0)";

/**
 * Prevents the removal of contents until the connection ends, so that everything that a snapshot names exists
 * when it is copied. Waits for removals in progress. False if another backup is running.
 */
export async function keepFromRemoval(connection: Queryable): Promise<boolean> {
  const { rows } = await connection.query(
    "SELECT pg_try_advisory_lock(hashtextextended('backup', 0)) AS taken",
  );
  if (rows[0].taken) await connection.query(`SELECT pg_advisory_lock(${COPYING})`);
  return rows[0].taken;
}

/** True if contents may be removed until the end of the transaction; false while a backup copies them. */
export async function mayRemove(database: Queryable): Promise<boolean> {
  const { rows } = await database.query(`SELECT pg_try_advisory_xact_lock_shared(${COPYING}) AS may`);
  return rows[0].may;
}
