import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { vaultProcess } from "@/server/generated/schema";
import { vaultKeys } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { log } from "@/server/platform/log/log";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const EVERY_MS = 15_000;
/** A process that has not reported for this long is considered dead. */
const SILENT_SECONDS = 60;

export type VaultProcess = { id: string; name: string; sealsWith: string; opens: string[]; seenAt: string };

const reportProcess = statement("vault_process.save.report", {
  params: {
    id: vaultProcess.id,
    name: vaultProcess.name,
    sealsWith: vaultProcess.seals_with,
    opens: vaultProcess.opens,
  },
  sql: `INSERT INTO vault_process (id, name, seals_with, opens, seen_at) VALUES ($id, $name, $sealsWith, $opens, now())
       ON CONFLICT (id) DO UPDATE SET seen_at = now()`,
});
const forgetProcess = statement("vault_process.delete.stopped", {
  params: { id: text },
  sql: "DELETE FROM vault_process WHERE id = $id",
});
const forgetSilent = statement("vault_process.delete.silent", {
  sql: `DELETE FROM vault_process WHERE seen_at < now() - interval '24 hours'`,
});

/** Reports this process's vault keys until `stop` is called. */
export async function announceVaultKeys(name: "web" | "worker"): Promise<{ stop(): Promise<void> }> {
  const id = `${name}@${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const { sealsWith, opens } = vaultKeys();
  const tell = () => reportProcess.run(pool, { id, name, sealsWith, opens });
  await tell();
  await forgetSilent.run(pool, {});
  const timer = setInterval(() => {
    tell().catch((error) => log.warn({ err: error }, "the vault keys of this process could not be reported"));
  }, EVERY_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await forgetProcess.run(pool, { id }).catch(() => undefined); // the row expires anyway
    },
  };
}

const readLive = statement("vault_process.list.live", {
  row: vaultProcess,
  sql: `SELECT * FROM vault_process WHERE seen_at > now() - make_interval(secs => ${SILENT_SECONDS}) ORDER BY id`,
});

/** Returns the live processes by their last reports. */
export async function vaultProcesses(): Promise<VaultProcess[]> {
  const rows = await readLive.all(pool, {});
  return rows.map(({ id, name, seals_with, opens, seen_at }) => ({
    id,
    name,
    sealsWith: seals_with,
    opens,
    seenAt: seen_at.toISOString(),
  }));
}

/** Throws `PolicyRejected` while a process is alive that could not open values sealed with this process's key. */
export async function requireReaders(): Promise<void> {
  const { sealsWith } = vaultKeys();
  const blind = (await vaultProcesses()).filter(({ opens }) => !opens.includes(sealsWith));
  if (blind.length === 0) return;
  const names = blind.map(({ id }) => id);
  fail(
    "PolicyRejected",
    `These processes do not have vault key ${sealsWith} yet: ${names.join(", ")}. Restart them with it first.`,
    { processes: names },
  );
}
