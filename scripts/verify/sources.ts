import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isObject } from "@/server/platform/text/json";
import { type KeySet, readJson, verifyText } from "@/server/verify";

/** Mistake that the caller can correct; the command prints its message and exits 2. */
export class Complaint extends Error {}

/** Paths are relative to where the command was typed; npm itself changes to the package's folder. */
const here = (file: string) => resolve(process.env.INIT_CWD ?? "", file);
const isUrl = (place: string) => /^https?:\/\//.test(place);

/** Reads the text of a file, or of standard input for `-`. Throws a Complaint if it cannot be read or is not UTF-8. */
export async function readSourceText(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file === "-" ? "/dev/stdin" : here(file));
  } catch (error) {
    throw new Complaint(`Cannot read ${file}: ${messageOf(error)}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Complaint(`${file} is not UTF-8 text.`);
  }
}

/** Reads a JSON document that another is compared with. Throws a Complaint if it cannot be read or parsed. */
export async function documentOf(file: string): Promise<unknown> {
  const read = readJson(await readSourceText(file));
  if ("unreadable" in read) throw new Complaint(`${file} is ${read.unreadable}.`);
  return read.value;
}

/** Reads every `.json` file of a folder, in the order of their names. */
export async function documentsIn(folder: string): Promise<unknown[]> {
  let names: string[];
  try {
    names = (await readdir(here(folder))).filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    throw new Complaint(`Cannot read ${folder}: ${messageOf(error)}`);
  }
  const documents: unknown[] = [];
  for (const name of names) documents.push(await documentOf(join(folder, name)));
  return documents;
}

/**
 * Finds the keys: those given, else those of the service at `url`, else those saved next to the document, else those of the
 * installation that runs here. Throws a Complaint if they cannot be read.
 */
export async function keysFor(
  file: string,
  { keys, url }: { keys?: string | undefined; url?: string | undefined },
  publishedAt = publishedHere,
): Promise<KeySet> {
  if (keys) return keySetOf(keys);
  if (url) return keySetOf(new URL("/.well-known/jwks.json", url).href);
  const beside = join(file === "-" ? "." : dirname(file), "jwks.json");
  const text = await readFile(here(beside), "utf8").catch(() => null);
  return text === null ? keySetOf(await publishedAt()) : parsedKeys(text, beside);
}

async function keySetOf(place: string): Promise<KeySet> {
  return parsedKeys(isUrl(place) ? await fetched(place) : await readSourceText(place), place);
}

function parsedKeys(text: string, place: string): KeySet {
  try {
    const set: unknown = JSON.parse(text);
    if (isKeySet(set)) return set;
  } catch {} // the Complaint below says it
  throw new Complaint(`${place} is not a JWK Set.`);
}

function isKeySet(value: unknown): value is KeySet {
  const keys = isObject(value) && value.keys;
  return Array.isArray(keys) && keys.every((key) => isObject(key) && typeof key.kty === "string");
}

/**
 * Requests the service's own copy of a document with the key in CAPSTAN_API_KEY; undefined without that key, or if the document
 * has no known kind or no id.
 */
export async function copyOf(text: string, url: string): Promise<unknown> {
  const apiKey = process.env.CAPSTAN_API_KEY;
  if (!apiKey) return undefined;
  const { kind, id } = await verifyText(text, { keys: [] });
  if (kind === null || id === null) return undefined;
  const name = encodeURIComponent(id);
  const path = {
    // A job's receipt has the job's ULID.
    receipt: `/v1/jobs/wfr_${name.slice(name.indexOf("_") + 1)}/receipt`,
    "pinned record": `/v1/inference/pinned/${name}`,
    manifest: `/v1/provenance/manifests/${name}`,
    lockfile: `/v1/provenance/lockfile?receipt_id=${name}`,
  }[kind];
  return JSON.parse(await fetched(new URL(path, url).href, { authorization: `Bearer ${apiKey}` }));
}

async function fetched(url: string, headers: Record<string, string> = {}): Promise<string> {
  try {
    // Follows no redirect, because the key is for this service only.
    const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it responded with ${answer.status}`);
    return await answer.text();
  } catch (error) {
    throw new Complaint(`Cannot read ${url}: ${messageOf(error)}`);
  }
}

/** Finds the URL at which the installation of this folder's data directory publishes its keys. */
async function publishedHere(): Promise<string> {
  try {
    const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
    const { baseUrl } = JSON.parse(await readFile(file, "utf8"));
    return new URL("/.well-known/jwks.json", String(baseUrl)).href;
  } catch {
    throw new Complaint(
      "No keys were found: there is no jwks.json next to the document, and no installation is running here. Use --keys <file>.",
    );
  }
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
