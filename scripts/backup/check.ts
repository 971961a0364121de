import type pg from "pg";
import { artifactStore } from "@/server/domain/artifacts";
import { checkLedger } from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import { type HeldWork, heldWork } from "@/server/domain/restores";
import { sha256Hex } from "@/server/platform/text/canonical";
import { isSignedBy, type PublicKey, utf8 } from "@/server/verify/ed25519";
import { namedContents } from "./artifacts";

const AT_ONCE = 500;

export type Checked = {
  /** Number of sealed documents whose hash and signature (if they are signed) are right, and ids of the others. */
  receipts: { verified: number; wrong: string[] };
  /** Differences in the ledger, one line each. */
  differences: string[];
  /** Number of contents that rows refer to, and hashes of those that the artifact store lacks or has with another length. */
  artifacts: number;
  missingArtifacts: string[];
  held: HeldWork[];
};

/** Checks a restored installation: its evidence, its books, its artifacts, and the work that it holds. */
export async function checkRestored(client: pg.Client): Promise<Checked> {
  const ctx = systemCtx("restore");
  const { differences } = await checkLedger(ctx);
  const named = await namedContents(client);
  const missingArtifacts: string[] = [];
  for (const { sha256, bytes } of named)
    if ((await artifactStore().stat(sha256))?.byteLength !== bytes) missingArtifacts.push(sha256);
  return {
    receipts: await verifySealed(client),
    differences: differences.map(
      ({ what, subject, expected, found }) => `${what}: ${subject} (expected ${expected}, found ${found})`,
    ),
    artifacts: named.length,
    missingArtifacts,
    held: await heldWork(ctx),
  };
}

type Sealed = { id: string; body: string; hash: string; signature: string | null; key_id: string | null };

/** Verifies the hash, and the signature if there is one, of every sealed document: receipts, pinned records, manifests. */
async function verifySealed(client: pg.Client): Promise<{ verified: number; wrong: string[] }> {
  const { rows: signers } = await client.query<{ id: string; key: PublicKey }>(
    "SELECT id, public_key AS key FROM signing_key",
  );
  const keys = new Map(signers.map(({ id, key }) => [id, key]));
  const isIntact = async ({ body, hash, signature, key_id }: Sealed) => {
    if (sha256Hex(body) !== hash) return false;
    if (signature === null) return true; // sealed without a signature
    const key = keys.get(key_id ?? "");
    return key !== undefined && isSignedBy(key, signature, utf8(body));
  };
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT attrelid::regclass::text AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND attname IN ('id', 'body', 'hash', 'signature', 'key_id')
     GROUP BY attrelid HAVING count(*) = 5`,
  );
  let verified = 0;
  const wrong: string[] = [];
  for (const { name } of tables) {
    for (let after = ""; ; ) {
      const { rows } = await client.query<Sealed>(
        `SELECT id, body, hash, signature, key_id FROM ${name} WHERE id > $1 ORDER BY id LIMIT ${AT_ONCE}`,
        [after],
      );
      for (const row of rows) {
        if (await isIntact(row)) verified++;
        else wrong.push(row.id);
      }
      if (rows.length < AT_ONCE) break;
      after = rows.at(-1)!.id;
    }
  }
  return { verified, wrong };
}
