import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type Env, env } from "@/server/env";

export type Secrets = {
  /** Signs the sessions of next-auth. */
  nextAuthSecret: string;
  /** 32 bytes: wraps the data keys of stored credentials and private payloads. */
  vaultKey: Buffer;
};

const Stored = z.object({ nextAuthSecret: z.string().min(32), vaultKey: z.string() });

/** What stands against starting with these settings in production; empty in development. Values are never named. */
export function productionFaults(settings: Env): string[] {
  if (settings.CAPSTAN_ENV !== "production") return [];
  const faults: string[] = [];
  if (!settings.NEXTAUTH_SECRET) faults.push("NEXTAUTH_SECRET is not set. Make one: openssl rand -base64 48");
  else if (isWeak(settings.NEXTAUTH_SECRET))
    faults.push("NEXTAUTH_SECRET is a default or too short. Make one: openssl rand -base64 48");
  if (!settings.CAPSTAN_VAULT_KEY)
    faults.push("CAPSTAN_VAULT_KEY is not set. Make one: openssl rand -base64 32");
  if (!settings.PUBLIC_URL?.startsWith("https://"))
    faults.push(
      "PUBLIC_URL must be the https address people and agents use, e.g. https://capstan.example.com",
    );
  if (settings.INNGEST_DEV) faults.push("INNGEST_DEV must not be set: it accepts unsigned calls.");
  if ((settings.INNGEST_BASE_URL || settings.INNGEST_EVENT_KEY) && !settings.INNGEST_SIGNING_KEY)
    faults.push("INNGEST_SIGNING_KEY is needed with an Inngest server, or anybody could start functions.");
  return faults;
}

/** Throws one sentence per setting that must not be used together with this CAPSTAN_ENV. For the start of a process. */
export function checkSettings(settings: Env = env): void {
  const faults = productionFaults(settings);
  if (settings.CAPSTAN_VAULT_KEY && !decodeVaultKey(settings.CAPSTAN_VAULT_KEY))
    faults.push("CAPSTAN_VAULT_KEY must be 32 bytes, as base64 or hexadecimal, and not all the same.");
  if (faults.length > 0)
    throw new Error(`Capstan does not start with these settings:\n- ${faults.join("\n- ")}`);
}

/**
 * The secrets of this installation: from the environment; in development what is missing there is made once and kept
 * in the data directory, readable by its owner only.
 */
export function readSecrets(settings: Env = env): Secrets {
  checkSettings(settings);
  const fromEnvironment = { nextAuthSecret: settings.NEXTAUTH_SECRET, vaultKey: settings.CAPSTAN_VAULT_KEY };
  const complete = fromEnvironment.nextAuthSecret && fromEnvironment.vaultKey;
  const stored = complete ? null : readOrMake(join(settings.CAPSTAN_DATA_DIR, "secrets.json"));
  const vaultKey = decodeVaultKey(fromEnvironment.vaultKey ?? stored?.vaultKey ?? "");
  const nextAuthSecret = fromEnvironment.nextAuthSecret ?? stored?.nextAuthSecret;
  if (!vaultKey || !nextAuthSecret) throw new Error(`${settings.CAPSTAN_DATA_DIR}/secrets.json is damaged.`);
  return { nextAuthSecret, vaultKey };
}

function readOrMake(path: string): z.output<typeof Stored> {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}.tmp`;
  const made = {
    nextAuthSecret: randomBytes(36).toString("base64"),
    vaultKey: randomBytes(32).toString("base64"),
  };
  for (;;) {
    try {
      return Stored.parse(JSON.parse(readFileSync(path, "utf8")));
    } catch (error) {
      if (!isMissing(error))
        throw new Error(`${path} is damaged: restore it from a backup.`, { cause: error });
    }
    writeFileSync(fresh, JSON.stringify(made), { mode: 0o600 });
    try {
      linkSync(fresh, path); // whole, and by one process only: the others read what it wrote
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    } finally {
      unlinkSync(fresh);
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function decodeVaultKey(text: string): Buffer | null {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  return key.length === 32 && new Set(key).size > 1 ? key : null;
}

function isWeak(secret: string): boolean {
  return secret.length < 32 || new Set(secret).size < 8 || /change.?me|example|your.?secret/i.test(secret);
}
