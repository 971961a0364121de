import { randomBytes } from "node:crypto";
import { access } from "@/server/domain/access";
import { type Act, INSTALLATION, record } from "@/server/domain/audit";
import { credentialsByVaultKey } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { forgetVaultKeys, vaultKeyId, vaultKeys } from "@/server/platform/crypto/vault";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { changeStoredVaultKeys } from "@/server/platform/settings/secrets";
import { int8, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { SEALED_COLUMNS } from "./places";
import { type VaultProcess, vaultProcesses } from "./processes";

export type VaultStatus = {
  /** The key that seals new values. */
  keyId: string;
  keys: {
    keyId: string;
    /** The number of values sealed under this key. */
    values: number;
    /** True if this process has the key. Otherwise, values under it cannot be opened. */
    isHere: boolean;
    /** True if no value is sealed under this key and no process seals with it, so that it can be removed. */
    canGo: boolean;
  }[];
  processes: VaultProcess[];
};

/** Returns which vault keys seal how many values, and which processes have them. Only operators may call this. */
export async function vaultStatus(ctx: Ctx): Promise<VaultStatus> {
  access.authorize(ctx, "operator");
  const { sealsWith, opens } = vaultKeys();
  const [values, processes] = [await valuesByKey(), await vaultProcesses()];
  const inUse = new Set(processes.map((process) => process.sealsWith));
  const keyIds = [...new Set([...opens, ...values.keys(), ...processes.flatMap((process) => process.opens)])];
  return {
    keyId: sealsWith,
    keys: keyIds.map((keyId) => ({
      keyId,
      values: values.get(keyId) ?? 0,
      isHere: opens.includes(keyId),
      canGo: keyId !== sealsWith && !values.get(keyId) && !inUse.has(keyId),
    })),
    processes,
  };
}

const COUNTS = SEALED_COLUMNS.map(({ table, column, when }) =>
  statement(`sealed.count.${table}`, {
    row: { key_id: present(text, "a value that was sealed is a text"), count: int8 },
    sql: `SELECT split_part(${column}, '.', 2) AS key_id, count(*) AS count FROM ${table} WHERE ${when} GROUP BY 1`,
  }),
);

async function valuesByKey(): Promise<Map<string, number>> {
  const counts = await credentialsByVaultKey();
  for (const counting of COUNTS) {
    for (const { key_id, count } of await counting.all(pool, {}))
      counts.set(key_id, (counts.get(key_id) ?? 0) + count);
  }
  return counts;
}

/**
 * Makes a new vault key in the data directory; the previous one still opens values. Processes use the new key after
 * their next start. Throws `PolicyRejected` if the keys are set in the environment.
 */
export async function rotateKey(ctx: Ctx): Promise<{ keyId: string; before: string }> {
  access.authorize(ctx, "operator");
  const before = vaultKeys().sealsWith;
  const fresh = randomBytes(32);
  const keyId = vaultKeyId(fresh);
  await changeKeys(ctx, { action: "vault.key_made", subject: keyId, details: { before } }, (stored) => ({
    vaultKey: fresh,
    otherVaultKeys: [stored.vaultKey, ...stored.otherVaultKeys],
  }));
  return { keyId, before };
}

/** Removes the old keys from the data directory. Throws `PolicyRejected` if any of them is still needed. */
export async function dropOldKeys(ctx: Ctx): Promise<{ keyId: string; dropped: string[] }> {
  const { keyId, keys } = await vaultStatus(ctx);
  const needed = keys.filter((key) => key.isHere && key.keyId !== keyId && !key.canGo);
  if (needed.length > 0) {
    const ids = needed.map((key) => key.keyId);
    fail(
      "PolicyRejected",
      `These vault keys are still in use: ${ids.join(", ")}. Run vault rewrap, and restart the processes that encrypt with them.`,
      {
        keys: ids,
      },
    );
  }
  const dropped = vaultKeys().opens.filter((id) => id !== keyId);
  const act = { action: "vault.keys_dropped", subject: keyId, details: { dropped } };
  await changeKeys(ctx, act, ({ vaultKey }) => ({ vaultKey, otherVaultKeys: [] }));
  return { keyId, dropped };
}

/**
 * Changes the file while the transaction of the audit entry is open, so that the entry is rolled back if the change
 * fails.
 */
async function changeKeys(
  ctx: Ctx,
  act: Omit<Act, "organizationId">,
  change: Parameters<typeof changeStoredVaultKeys>[0],
): Promise<void> {
  await inTransaction(async (client) => {
    await record(ctx, { ...act, organizationId: INSTALLATION }, client);
    if (!changeStoredVaultKeys(change)) inEnvironment();
  });
  forgetVaultKeys();
}

function inEnvironment(): never {
  fail(
    "PolicyRejected",
    "The vault keys of this installation are set in its environment. Change CAPSTAN_VAULT_KEY and CAPSTAN_VAULT_OTHER_KEYS there.",
  );
}
