import type pg from "pg";
import type { ArtifactStore } from "@/server/domain/artifacts";
import { Fault } from "@/server/platform/errors/errors";

/** Content that artifact rows refer to by its hash. */
type Named = { sha256: string; bytes: number };

/** Lists the contents of all artifacts that are not pruned, as the client's transaction sees them. */
export async function namedContents(client: pg.Client): Promise<Named[]> {
  const { rows } = await client.query<{ sha256: string; bytes: string }>(
    `SELECT sha256, max(byte_length)::text AS bytes FROM artifact WHERE pruned_at IS NULL
     GROUP BY sha256 ORDER BY sha256`,
  );
  return rows.map(({ sha256, bytes }) => ({ sha256, bytes: Number(bytes) }));
}

/** Copies contents that `to` does not have. Content that `from` does not have, or has with another hash, is listed as missing. */
export async function copyArtifacts(
  named: readonly Named[],
  from: ArtifactStore,
  to: ArtifactStore,
): Promise<{ copied: number; missing: string[] }> {
  const missing: string[] = [];
  let copied = 0;
  for (const { sha256, bytes } of named) {
    if ((await to.stat(sha256))?.byteLength === bytes) continue;
    try {
      const put = await to.put(await from.open(sha256));
      if (put.sha256 === sha256) copied++;
      else missing.push(sha256);
    } catch (error) {
      if (!(error instanceof Fault && error.code === "NotFound")) throw error;
      missing.push(sha256);
    }
  }
  return { copied, missing };
}
