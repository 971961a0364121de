import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type KeySet, readJson, verifyText } from "@/server/verify";

/** Something the caller can put right. */
export class Complaint extends Error {}

/** Files are named from where the command was typed, which npm leaves for the package's own folder. */
const here = (file: string) => resolve(process.env.INIT_CWD ?? "", file);
const isUrl = (place: string) => /^https?:\/\//.test(place);

/** The text of a file, or of standard input for `-`. Bytes that are no UTF-8 make it no text. */
export async function textOf(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file === "-" ? "/dev/stdin" : here(file));
  } catch (error) {
    throw new Complaint(`${file} cannot be read: ${messageOf(error)}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Complaint(`${file} is not text in UTF-8.`);
  }
}

/** A document that is only compared with. */
export async function documentOf(file: string): Promise<unknown> {
  const read = readJson(await textOf(file));
  if ("unreadable" in read) throw new Complaint(`${file} is ${read.unreadable}.`);
  return read.value;
}

/** Every JSON document of a folder. */
export async function documentsIn(folder: string): Promise<unknown[]> {
  let names: string[];
  try {
    names = (await readdir(here(folder))).filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    throw new Complaint(`${folder} cannot be read: ${messageOf(error)}`);
  }
  const documents: unknown[] = [];
  for (const name of names) documents.push(await documentOf(join(folder, name)));
  return documents;
}

/** The keys: as named, of the service at `url`, saved beside the document, or of the installation that runs here. */
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
  return parsedKeys(isUrl(place) ? await fetched(place) : await textOf(place), place);
}

function parsedKeys(text: string, place: string): KeySet {
  try {
    const set: unknown = JSON.parse(text);
    if (isKeySet(set)) return set;
  } catch {} // said below
  throw new Complaint(`${place} is no JWK Set.`);
}

function isKeySet(value: unknown): value is KeySet {
  const keys = isObject(value) && value.keys;
  return Array.isArray(keys) && keys.every((key) => isObject(key) && typeof key.kty === "string");
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** The service's own copy of a document, asked with the key in CAPSTAN_API_KEY; undefined without one. */
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
    // No redirect is followed: the key is for this service alone.
    const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    return await answer.text();
  } catch (error) {
    throw new Complaint(`${url} could not be read: ${messageOf(error)}`);
  }
}

/** Where the installation over the data directory of this folder publishes its keys. */
async function publishedHere(): Promise<string> {
  try {
    const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
    const { baseUrl } = JSON.parse(await readFile(file, "utf8"));
    return new URL("/.well-known/jwks.json", String(baseUrl)).href;
  } catch {
    throw new Complaint(
      "There is no jwks.json beside the document, and nothing runs here to ask for the keys. Name them: --keys <file>.",
    );
  }
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
