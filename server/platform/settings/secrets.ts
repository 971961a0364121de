import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type Env, env, SETTINGS } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { faultsTogether, misspelt, proxyWarnings } from "@/server/platform/settings/setting-rules";

export type Secrets = {
  /** Signs the sessions of next-auth. */
  nextAuthSecret: string;
  /** 32 bytes that wrap the data keys of stored credentials and private payloads. */
  vaultKey: Buffer;
  /** Keys that still unwrap what they wrapped, and wrap nothing new. */
  otherVaultKeys: Buffer[];
};

const Stored = z.object({
  nextAuthSecret: z.string().min(32),
  vaultKey: z.string(),
  otherVaultKeys: z.array(z.string()).default([]),
});
type Stored = z.output<typeof Stored>;

/** Reasons against starting with these settings in production; empty in development. Values are never named. */
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
    faults.push("INNGEST_SIGNING_KEY is needed with an Inngest server, or anyone could start functions.");
  return faults;
}

/** Throws a Refusal with one sentence for each setting that prevents a start, and for each misspelt known name. */
export function checkSettings(
  settings: Env = env,
  given: string[] = Object.keys(process.env),
  known: string[] = SETTINGS,
): void {
  const faults = [
    ...misspelt(given, known).faults,
    ...productionFaults(settings),
    ...faultsTogether(settings),
  ];
  if (settings.CAPSTAN_VAULT_KEY && !decodeVaultKey(settings.CAPSTAN_VAULT_KEY))
    faults.push("CAPSTAN_VAULT_KEY must be 32 bytes, as base64 or hexadecimal, and not all the same.");
  if (settings.CAPSTAN_VAULT_OTHER_KEYS.some((key) => !decodeVaultKey(key)))
    faults.push("CAPSTAN_VAULT_OTHER_KEYS must be keys like CAPSTAN_VAULT_KEY, with commas between them.");
  if (faults.length > 0)
    throw new Refusal(`Capstan does not start with these settings:\n- ${faults.join("\n- ")}`);
}

/** Warnings for the log of a start: settings that have no effect, are unsafe, or lack another one that they need. */
export function settingWarnings(settings: Env = env, given: string[] = Object.keys(process.env)): string[] {
  const isSandboxOn = settings.SANDBOX || settings.CAPSTAN_ENV !== "production";
  const set = given.filter((name) => process.env[name] !== "");
  const unknown = [...misspelt(given, SETTINGS).warnings, ...proxyWarnings(settings, set)];
  return isSandboxOn && !settings.SANDBOX_URL
    ? [
        ...unknown,
        "The sandbox provider is on, but SANDBOX_URL is not set, so its models are not offered. Start it with SANDBOX_PORT=3001 npm run start -- sandbox, and set SANDBOX_URL=http://127.0.0.1:3001 for web and worker.",
      ]
    : unknown;
}

/**
 * Reads the secrets of this installation from the environment. In development, missing ones are made once and kept in the data
 * directory, readable by their owner only. Throws if a setting prevents a start or the file is damaged.
 */
export function readSecrets(settings: Env = env): Secrets {
  checkSettings(settings);
  const { NEXTAUTH_SECRET, CAPSTAN_VAULT_KEY, CAPSTAN_VAULT_OTHER_KEYS } = settings;
  const stored = NEXTAUTH_SECRET && CAPSTAN_VAULT_KEY ? null : readOrMake(storedAt(settings));
  // If CAPSTAN_VAULT_KEY is set, the file's other keys are not used: they belong to the file's key.
  const texts = CAPSTAN_VAULT_KEY
    ? [CAPSTAN_VAULT_KEY, ...CAPSTAN_VAULT_OTHER_KEYS]
    : [stored?.vaultKey ?? "", ...(stored?.otherVaultKeys ?? []), ...CAPSTAN_VAULT_OTHER_KEYS];
  const [vaultKey, ...otherVaultKeys] = texts.map(decodeVaultKey);
  const nextAuthSecret = NEXTAUTH_SECRET ?? stored?.nextAuthSecret;
  if (!vaultKey || !nextAuthSecret || !otherVaultKeys.every((key) => key !== null))
    throw new Error(`${storedAt(settings)} is damaged.`);
  return { nextAuthSecret, vaultKey, otherVaultKeys };
}

/**
 * Changes the vault keys in the data directory, at once or not at all; null if they are set in the environment. Processes read
 * them when they start.
 */
export function changeStoredVaultKeys(
  change: (
    keys: Pick<Secrets, "vaultKey" | "otherVaultKeys">,
  ) => Pick<Secrets, "vaultKey" | "otherVaultKeys">,
  settings: Env = env,
): Pick<Secrets, "vaultKey" | "otherVaultKeys"> | null {
  if (settings.CAPSTAN_VAULT_KEY) return null;
  const changed = change(readSecrets(settings));
  const path = storedAt(settings);
  const fresh = `${path}.${process.pid}.tmp`;
  const text = (key: Buffer) => key.toString("base64");
  const kept: Stored = {
    ...readOrMake(path),
    vaultKey: text(changed.vaultKey),
    otherVaultKeys: changed.otherVaultKeys.map(text),
  };
  writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600, flush: true });
  renameSync(fresh, path);
  return changed;
}

const storedAt = (settings: Env) => join(settings.CAPSTAN_DATA_DIR, "secrets.json");

function readOrMake(path: string): Stored {
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
      linkSync(fresh, path); // atomic, and by one process only: the others read what it wrote
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
