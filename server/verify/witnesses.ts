import type { Json } from "../step";
import { lockfileBodyOf, manifestEntryOf, promptHashOf } from "./derive";
import { hashOfText, type KeySet } from "./ed25519";
import { differencesOf, isObject, type JsonObject, readJson, shown } from "./json";
import { type Form, formOf } from "./kinds";
import { nothing, type Say, type Verification, verifyAlone } from "./verify";

/*
 * A hash says that something is not as it was, never what. A second witness can: another copy, the receipts that a
 * manifest or a lockfile was made of, or the prompt whose hash a document carries.
 */

export type Witnesses = {
  /** Another copy of the same document. */
  other?: unknown;
  /** Receipts and records, to be held against a manifest's lines or a lockfile. */
  receipts?: readonly unknown[];
  /** Texts, to be held against a record's or a lockfile's hashes. */
  prompt?: { instructions?: string; input: string };
};

/** Verifies a document as it was saved. What stands twice in it, or after its end, makes it another document. */
export async function verifyText(text: string, keys: KeySet, witnesses?: Witnesses): Promise<Verification> {
  const read = readJson(text);
  if ("unreadable" in read) return nothing(`It is ${read.unreadable}.`);
  return withWitnesses(read.value, await verifyAlone(read.value, keys, read.duplicates), keys, witnesses);
}

/** Verifies a document that was parsed, by itself and against whatever else is at hand. */
export async function verifyDocument(
  document: unknown,
  keys: KeySet,
  witnesses?: Witnesses,
): Promise<Verification> {
  return withWitnesses(document, await verifyAlone(document, keys), keys, witnesses);
}

async function withWitnesses(
  document: unknown,
  alone: Verification,
  keys: KeySet,
  { other, receipts, prompt }: Witnesses = {},
): Promise<Verification> {
  const checks = [...alone.checks];
  const say: Say = (name, ok, detail) => void checks.push({ name, ok, detail });
  const form = formOf(document);
  if (isObject(document) && form && alone.kind !== null) {
    if (receipts && form.kind === "manifest") await checkLines(document, receipts, keys, say);
    if (receipts && form.kind === "lockfile") await checkRecord(document, form, receipts, keys, say);
    if (prompt) await checkPrompt(document, form, prompt, say);
  }
  if (other !== undefined) {
    const found = told(document as Json, other);
    say("same_as_other", found === "", found || "the other copy says the same");
  }
  return { ...alone, checks, verified: checks.every(({ ok }) => ok) };
}

/** Where two copies differ, in one line; empty: nowhere. */
function told(one: Json | undefined, other: unknown, [here, there] = ["here", "there"]): string {
  return differencesOf(one, other as Json | undefined) // what a parser made
    .map((each) => `${each.path} is ${shown(each.here)} ${here} and ${shown(each.there)} ${there}`)
    .join("; ");
}

async function checkLines(
  manifest: JsonObject,
  receipts: readonly unknown[],
  keys: KeySet,
  say: Say,
): Promise<void> {
  const lines = Array.isArray(manifest.receipts) ? manifest.receipts : [];
  const given = byId(receipts);
  const wrong: string[] = [];
  for (const line of lines) {
    const id = isObject(line) ? String(line.receiptId) : shown(line);
    const receipt = given.get(id);
    if (!receipt) {
      wrong.push(`${id} is not among the receipts given`);
      continue;
    }
    const { verified, checks } = await verifyAlone(receipt, keys);
    const failed = checks.filter(({ ok }) => !ok).map(({ detail }) => detail);
    if (!verified) wrong.push(`${id} itself does not hold: ${failed.join("; ")}`);
    const found = told(line, manifestEntryOf(receipt), ["in the manifest", "on the receipt"]);
    if (found) wrong.push(`${id}: ${found}`);
  }
  say(
    "receipts_match",
    wrong.length === 0,
    wrong.join("\n") || `${lines.length} receipts, each as the manifest says`,
  );
}

async function checkRecord(
  lockfile: JsonObject,
  form: Form,
  receipts: readonly unknown[],
  keys: KeySet,
  say: Say,
): Promise<void> {
  const record = byId(receipts).get(String(lockfile.receiptId));
  if (!record) {
    say("receipts_match", false, `its record ${String(lockfile.receiptId)} is not among those given`);
    return;
  }
  const { verified } = await verifyAlone(record, keys);
  const found = told(form.sealed(lockfile), await lockfileBodyOf(record));
  say(
    "receipts_match",
    verified && found === "",
    (verified ? "" : "the record itself does not hold; ") + (found || "it says what its record says"),
  );
}

async function checkPrompt(
  document: JsonObject,
  form: Form,
  prompt: NonNullable<Witnesses["prompt"]>,
  say: Say,
): Promise<void> {
  const hashes: Record<string, Json> = {
    instructionsHash: prompt.instructions === undefined ? null : await hashOfText(prompt.instructions),
    inputHash: await hashOfText(prompt.input),
  };
  const given: Record<string, Json> =
    form.kind === "lockfile" ? { promptHash: await promptHashOf(hashes) } : hashes;
  const wrong = Object.entries(given)
    .filter(([name, hash]) => (document[name] ?? null) !== hash)
    .map(
      ([name, hash]) => `${name} is ${shown(document[name])}; of the text given it would be ${shown(hash)}`,
    );
  const isOf = form.kind === "lockfile" || form.kind === "pinned record";
  if (!isOf) say("prompt_matches", false, `a ${form.kind} carries no hash of a prompt`);
  else
    say(
      "prompt_matches",
      wrong.length === 0,
      wrong.join("; ") || "the prompt given is the one that was sent",
    );
}

function byId(documents: readonly unknown[]): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const document of documents) {
    const kind = formOf(document)?.kind;
    if (isObject(document) && (kind === "receipt" || kind === "pinned record"))
      found.set(String(document.receiptId), document);
  }
  return found;
}
