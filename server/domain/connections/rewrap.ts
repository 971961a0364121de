import { credential } from "@/server/generated/schema";
import { rewrapped, sealedUnder, vaultKeys } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { openFields, recognizableParts } from "./secret-fields";

type Row = { id: string; organization_id: string; provider: string; sealed: Record<string, string> };

const listOther = statement("credential.list.other_vault_key", {
  params: { sealsWith: text },
  row: pick(credential, "id organization_id provider sealed"),
  sql: `SELECT id, organization_id, provider, sealed FROM credential
     WHERE EXISTS (SELECT FROM jsonb_each_text(sealed) AS field WHERE split_part(field.value, '.', 2) <> $sealsWith) ORDER BY id`,
});

/**
 * Encrypts the fields of credentials under an older vault key again with the current one. Their fingerprints
 * depend on the key too, so they are computed again: equal secrets stay equal. A credential that is rotated
 * meanwhile keeps its new value.
 */
export async function rewrapCredentials(): Promise<{ rewrapped: number; unopenable: number }> {
  const done = { rewrapped: 0, unopenable: 0 };
  const rows = await listOther.all(pool, { sealsWith: vaultKeys().sealsWith });
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

const replaceSealed = statement("credential.update.sealed", {
  params: {
    credentialId: text,
    sealed: credential.sealed,
    fresh: credential.sealed,
    fingerprint: credential.fingerprint,
  },
  sql: `UPDATE credential SET sealed = $fresh, fingerprint = $fingerprint WHERE id = $credentialId AND sealed = $sealed::jsonb`,
});

async function rewrapOne({ id, organization_id, provider, sealed }: Row): Promise<boolean> {
  const fields = Object.fromEntries(
    Object.entries(openFields(organization_id, id, sealed)).map(([name, secret]) => [name, secret.reveal()]),
  );
  const fresh = Object.fromEntries(
    Object.entries(sealed).map(([name, value]) => [name, rewrapped(value) ?? value]),
  );
  const rowCount = await replaceSealed.count(pool, {
    credentialId: id,
    sealed,
    fresh,
    fingerprint: recognizableParts(provider, organization_id, fields).fingerprint,
  });
  return rowCount === 1;
}

const listSealed = statement("credential.list.sealed", {
  row: { sealed: credential.sealed },
  sql: `SELECT sealed FROM credential`,
});

/** Number of credentials that have a field under each vault key, by the key's id. */
export async function credentialsByVaultKey(): Promise<Map<string, number>> {
  const rows = await listSealed.all(pool, {});
  const counts = new Map<string, number>();
  for (const { sealed } of rows)
    for (const keyId of new Set(Object.values(sealed).map(sealedUnder)))
      counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
  return counts;
}
