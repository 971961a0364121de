import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../client";
import { baseOf } from "../transport";
import { UsageError } from "./terminal";

/** The settings that a login saves, in a file that only its owner can read. */
export type Saved = {
  baseUrl?: string;
  sessionToken?: string;
  sessionId?: string;
  sessionEndsAt?: string;
  principalId?: string;
  /** The person who approved the login. */
  account?: string;
  apiKey?: string;
  keyId?: string;
  projectId?: string;
};

const directory = () => join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "capstan");
export const settingsFile = () => join(directory(), "config.json");

export function readSaved(): Saved {
  let text: string;
  try {
    text = readFileSync(settingsFile(), "utf8");
  } catch {
    return {};
  }
  try {
    const saved: Saved = JSON.parse(text);
    return typeof saved === "object" && saved !== null ? saved : {};
  } catch {
    throw new UsageError(`${settingsFile()} is not valid JSON. Remove it with \`capstan logout\`.`);
  }
}

/** Writes the settings atomically and never readable by others. */
export function save(saved: Saved): void {
  mkdirSync(directory(), { recursive: true, mode: 0o700 });
  const part = `${settingsFile()}.${process.pid}`;
  writeFileSync(part, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600 });
  renameSync(part, settingsFile());
}

export const forgetSettings = () => rmSync(settingsFile(), { force: true });

/** The options of every command. */
export type Common = { json?: boolean; baseUrl?: string; project?: string };

const DEFAULT_BASE = "http://localhost:3000";

/**
 * The effective settings: an option precedes the environment, which precedes a saved value. A saved project is used only
 * with the saved key.
 */
export function commandSettings(options: Common): { baseUrl: string; apiKey?: string; projectId?: string } {
  const given = options.baseUrl || process.env.CAPSTAN_BASE_URL;
  const saved = readSaved();
  const baseUrl = given || saved.baseUrl || DEFAULT_BASE;
  let base: string;
  try {
    base = baseOf(baseUrl);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  // A saved key is used only with its own service.
  const isItsOwn = saved.baseUrl === base;
  const apiKey = process.env.CAPSTAN_API_KEY || (isItsOwn ? saved.apiKey : undefined);
  const isSavedKey = apiKey !== undefined && apiKey === saved.apiKey;
  const projectId = options.project || (isSavedKey ? saved.projectId : undefined);
  return { baseUrl: base, ...(apiKey ? { apiKey } : {}), ...(projectId ? { projectId } : {}) };
}

/** A client with these settings. With `isOpen` the command needs no key. */
export function clientOf(options: Common, isOpen = false): Client {
  const settings = commandSettings(options);
  if (!settings.apiKey && !isOpen)
    throw new UsageError("No API key is set. Run `capstan login`, or set CAPSTAN_API_KEY.");
  try {
    return createClient(settings);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
