import { rewrapped, sealedUnder, vaultKeys } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { openFields, shownOf } from "./secret-fields";

type Row = { id: string; organization_id: string; provider: string; sealed: Record<string, string> };

/**
 * Hands the fields of every credential to the vault key that seals now. Their fingerprints are keyed by it too, so they are
 * made anew: equal secrets stay equal. A credential that is rotated meanwhile keeps what was written.
 */
export async function rewrapCredentials(): Promise<{ rewrapped: number; unopenable: number }> {
  const done = { rewrapped: 0, unopenable: 0 };
  const { rows } = await pool.query<Row>(
    `SELECT id, organization_id, provider, sealed FROM credential
     WHERE EXISTS (SELECT FROM jsonb_each_text(sealed) AS field WHERE split_part(field.value, '.', 2) <> $1) ORDER BY id`,
    [vaultKeys().sealsWith],
  );
  for (const row of rows) {
    try {
      if (await rewrapOne(row)) done.rewrapped++;
    } catch (error) {
      log.error({ err: error, credentialId: row.id }, "a credential cannot be decrypted");
      done.unopenable++;
    }
  }
  return done;
}

async function rewrapOne({ id, organization_id, provider, sealed }: Row): Promise<boolean> {
  const fields = Object.fromEntries(
    Object.entries(openFields(organization_id, id, sealed)).map(([name, secret]) => [name, secret.reveal()]),
  );
  const fresh = Object.fromEntries(
    Object.entries(sealed).map(([name, value]) => [name, rewrapped(value) ?? value]),
  );
  const { rowCount } = await pool.query(
    "UPDATE credential SET sealed = $3, fingerprint = $4 WHERE id = $1 AND sealed = $2::jsonb",
    [
      id,
      JSON.stringify(sealed),
      JSON.stringify(fresh),
      shownOf(provider, organization_id, fields).fingerprint,
    ],
  );
  return rowCount === 1;
}

/** How many credentials have a field under each vault key, by the key's id. */
export async function credentialsByVaultKey(): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ sealed: Record<string, string> }>("SELECT sealed FROM credential");
  const counts = new Map<string, number>();
  for (const { sealed } of rows)
    for (const keyId of new Set(Object.values(sealed).map(sealedUnder)))
      counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
  return counts;
}
