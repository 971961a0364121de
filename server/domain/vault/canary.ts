import { isKeyHere, sealedUnder, sealSecret, vaultKeys } from "@/server/platform/crypto/vault";
import type { Queryable } from "@/server/platform/db";
import { Refusal } from "@/server/platform/settings/refusal";
import { SEALED_COLUMNS } from "./places";

/**
 * Throws a Refusal where the vault key of this process is not the one of the database. The canary decides; an installation
 * that has none yet is judged by the newest sealed value of each table.
 */
export async function checkVaultKey(db: Queryable): Promise<void> {
  const canary = await db.query<{ sealed: string }>("SELECT sealed FROM vault_canary");
  const values = canary.rows.length > 0 ? canary.rows : await newestSealed(db);
  const foreign = values.find(({ sealed }) => !isKeyHere(sealed));
  if (!foreign) return;
  const [needed, here] = [sealedUnder(foreign.sealed), vaultKeys().opens.join(", ")];
  throw new Refusal(
    `CAPSTAN_VAULT_KEY: the database was encrypted with vault key ${needed}, and this is ${here}. Set the key that belongs to this database.`,
  );
}

/** Seals the canary where there is none. Call it after checkVaultKey; throws its Refusal where another process was first. */
export async function plantCanary(db: Queryable): Promise<void> {
  await db.query("INSERT INTO vault_canary (id, sealed) VALUES (1, $1) ON CONFLICT DO NOTHING", [
    sealSecret("canary", "vault_canary|1|sealed"),
  ]);
  await checkVaultKey(db);
}

async function newestSealed(db: Queryable): Promise<{ sealed: string }[]> {
  const ofColumns = SEALED_COLUMNS.map(({ table, column, key, when }) => {
    const order = Object.keys(key).map((name) => `${name} DESC`);
    return `(SELECT ${column} AS sealed FROM ${table} WHERE ${when} ORDER BY ${order.join(", ")} LIMIT 1)`;
  });
  const ofCredentials = `(SELECT field.value AS sealed FROM (SELECT sealed FROM credential ORDER BY id DESC LIMIT 1) newest,
    jsonb_each_text(newest.sealed) field)`;
  const { rows } = await db.query<{ sealed: string }>([...ofColumns, ofCredentials].join(" UNION ALL "));
  return rows;
}
