import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { vaultKeys } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { log } from "@/server/platform/log/log";

const EVERY_MS = 15_000;
/** Who has not been heard of for so long does not live. */
const SILENT_SECONDS = 60;

export type VaultProcess = { id: string; name: string; sealsWith: string; opens: string[]; seenAt: string };

/** Tells which vault keys this process has, from now until it stops. */
export async function announceVaultKeys(name: "web" | "worker"): Promise<{ stop(): Promise<void> }> {
  const id = `${name}@${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const { sealsWith, opens } = vaultKeys();
  const tell = () =>
    pool.query(
      `INSERT INTO vault_process (id, name, seals_with, opens, seen_at) VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (id) DO UPDATE SET seen_at = now()`,
      [id, name, sealsWith, opens],
    );
  await tell();
  await pool.query("DELETE FROM vault_process WHERE seen_at < now() - interval '24 hours'");
  const timer = setInterval(() => {
    tell().catch((error) => log.warn({ err: error }, "the vault keys of this process could not be reported"));
  }, EVERY_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await pool.query("DELETE FROM vault_process WHERE id = $1", [id]).catch(() => undefined); // it expires anyway
    },
  };
}

/** The live processes, by their last report. */
export async function vaultProcesses(): Promise<VaultProcess[]> {
  const { rows } = await pool.query<{
    id: string;
    name: string;
    seals_with: string;
    opens: string[];
    seen_at: Date;
  }>(
    `SELECT * FROM vault_process WHERE seen_at > now() - make_interval(secs => ${SILENT_SECONDS}) ORDER BY id`,
  );
  return rows.map(({ id, name, seals_with, opens, seen_at }) => ({
    id,
    name,
    sealsWith: seals_with,
    opens,
    seenAt: seen_at.toISOString(),
  }));
}

/** Refuses while a process lives that could not open what is sealed with the key of this one. */
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
