import { vaultCanary } from "@/server/generated/schema";
import { isKeyHere, sealedUnder, sealSecret, vaultKeys } from "@/server/platform/crypto/vault";
import type { Queryable } from "@/server/platform/db";
import { Refusal } from "@/server/platform/settings/refusal";
import { present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { SEALED_COLUMNS } from "./places";

const readCanary = statement("vault_canary.read", {
  row: { sealed: vaultCanary.sealed },
  sql: `SELECT sealed FROM vault_canary`,
});

const ofColumns = SEALED_COLUMNS.map(({ table, column, key, when }) => {
  const order = Object.keys(key).map((name) => `${name} DESC`);
  return `(SELECT ${column} AS sealed FROM ${table} WHERE ${when} ORDER BY ${order.join(", ")} LIMIT 1)`;
});
const ofCredentials = `(SELECT field.value AS sealed FROM (SELECT sealed FROM credential ORDER BY id DESC LIMIT 1) newest,
    jsonb_each_text(newest.sealed) field)`;
const newestSealed = statement("sealed.read.newest", {
  row: { sealed: present(text, "each part selects only values that were sealed, which are texts") },
  sql: [...ofColumns, ofCredentials].join(" UNION ALL "),
});

/**
 * Throws a `Refusal` if this process does not have the vault key of the database. The canary decides. Without one, the
 * newest sealed value of each table is checked.
 */
export async function checkVaultKey(db: Queryable): Promise<void> {
  const canary = await readCanary.all(db, {});
  const values = canary.length > 0 ? canary : await newestSealed.all(db, {});
  const foreign = values.find(({ sealed }) => !isKeyHere(sealed));
  if (!foreign) return;
  const [needed, here] = [sealedUnder(foreign.sealed), vaultKeys().opens.join(", ")];
  throw new Refusal(
    `CAPSTAN_VAULT_KEY: the database was encrypted with vault key ${needed}, and this is ${here}. Set the key that belongs to this database.`,
  );
}

const insertCanary = statement("vault_canary.insert", {
  params: { sealed: vaultCanary.sealed },
  sql: `INSERT INTO vault_canary (id, sealed) VALUES (1, $sealed) ON CONFLICT DO NOTHING`,
});

/**
 * Seals the canary if there is none. Must be called after `checkVaultKey`. Throws its `Refusal` if another process with
 * another key was first.
 */
export async function plantCanary(db: Queryable): Promise<void> {
  await insertCanary.run(db, { sealed: sealSecret("canary", "vault_canary|1|sealed") });
  await checkVaultKey(db);
}
