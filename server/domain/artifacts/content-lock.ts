import { pool, type Queryable } from "@/server/db";
import { artifactStore } from "./store";
import type { Stored } from "./store-port";

/*
 * Content belongs to everybody who put it, so it is removed only when no row names it. Whoever removes holds its lock from
 * that look to the end; whoever is about to name it announces its row under the lock, or makes sure afterwards.
 */

const KEY = (sha256: string) => `content\n${sha256}`;

/** Until the end of the transaction: whoever announces content waits for who is about to remove it, and the other way round. */
export async function lockContent(database: Queryable, sha256: string): Promise<void> {
  await database.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [KEY(sha256)]);
}

/**
 * Keeps contents whose rows are written later. Who was about to remove one of them may have looked before it was young
 * again: all who have are waited for, and what they took along is put once more. Whoever looks later leaves it alone.
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
