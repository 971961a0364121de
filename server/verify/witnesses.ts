import type { Json } from "@/server/platform/durable/step";
import { lockfileBodyOf, manifestEntryOf, promptHashOf } from "./derive";
import { hashOfText, type KeySet } from "./ed25519";
import { differencesOf, isJsonRecord, type JsonRecord, readJson, shownValue } from "./json";
import { type DocumentForm, formOf } from "./kinds";
import { nothing, type Say, type Verification, verifyAlone } from "./verify";

/*
 * A hash shows that something was changed, but not what. A second source can: another copy, the receipts from which a
 * manifest or a lockfile was made, or the prompt whose hash a document contains.
 */

export type Witnesses = {
  /** Another copy of the same document. */
  other?: unknown;
  /** Receipts and records, to compare with a manifest's lines or a lockfile. */
  receipts?: readonly unknown[];
  /** Texts, to compare with a record's or a lockfile's hashes. */
  prompt?: { instructions?: string; input: string };
};

/** Verifies a document's saved text. A member that occurs twice, or text after the end, makes it invalid. */
export async function verifyText(text: string, keys: KeySet, witnesses?: Witnesses): Promise<Verification> {
  const read = readJson(text);
  if ("unreadable" in read) return nothing(`The text is ${read.unreadable}.`);
  return withWitnesses(read.value, await verifyAlone(read.value, keys, read.duplicates), keys, witnesses);
}

/** Verifies a parsed document, on its own and against the given witnesses. */
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
  if (isJsonRecord(document) && form && alone.kind !== null) {
    if (receipts && form.kind === "manifest") await checkLines(document, receipts, keys, say);
    if (receipts && form.kind === "lockfile") await checkRecord(document, form, { receipts, keys, say });
    if (prompt) await checkPrompt(document, form, prompt, say);
  }
  if (other !== undefined) {
    const found = differencesAsText(document as Json, other);
    say("same_as_other", found === "", found || "the other copy is identical");
  }
  return { ...alone, checks, verified: checks.every(({ ok }) => ok) };
}

/** The differences of two copies in one line; empty if there are none. */
function differencesAsText(one: Json | undefined, other: unknown, [here, there] = ["here", "there"]): string {
  return differencesOf(one, other as Json | undefined) // a parsed document
    .map((each) => `${each.path} is ${shownValue(each.here)} ${here} and ${shownValue(each.there)} ${there}`)
    .join("; ");
}

async function checkLines(
  manifest: JsonRecord,
  receipts: readonly unknown[],
  keys: KeySet,
  say: Say,
): Promise<void> {
  const lines = Array.isArray(manifest.receipts) ? manifest.receipts : [];
  const given = byId(receipts);
  const wrong: string[] = [];
  for (const line of lines) {
    const id = isJsonRecord(line) ? String(line.receiptId) : shownValue(line);
    const receipt = given.get(id);
    if (!receipt) {
      wrong.push(`${id} is not among the given receipts`);
      continue;
    }
    const { verified, checks } = await verifyAlone(receipt, keys);
    const failed = checks.filter(({ ok }) => !ok).map(({ detail }) => detail);
    if (!verified) wrong.push(`${id} does not verify: ${failed.join("; ")}`);
    const found = differencesAsText(line, manifestEntryOf(receipt), ["in the manifest", "on the receipt"]);
    if (found) wrong.push(`${id}: ${found}`);
  }
  say(
    "receipts_match",
    wrong.length === 0,
    wrong.join("\n") || `${lines.length} receipts match the manifest`,
  );
}

async function checkRecord(
  lockfile: JsonRecord,
  form: DocumentForm,
  { receipts, keys, say }: { receipts: readonly unknown[]; keys: KeySet; say: Say },
): Promise<void> {
  const record = byId(receipts).get(String(lockfile.receiptId));
  if (!record) {
    say(
      "receipts_match",
      false,
      `the lockfile's record ${String(lockfile.receiptId)} is not among the given receipts`,
    );
    return;
  }
  const { verified } = await verifyAlone(record, keys);
  const found = differencesAsText(form.sealed(lockfile), await lockfileBodyOf(record));
  say(
    "receipts_match",
    verified && found === "",
    (verified ? "" : "the record does not verify; ") + (found || "the lockfile matches its record"),
  );
}

async function checkPrompt(
  document: JsonRecord,
  form: DocumentForm,
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
      ([name, hash]) =>
        `${name} is ${shownValue(document[name])}, but the given text has ${shownValue(hash)}`,
    );
  const isOf = form.kind === "lockfile" || form.kind === "pinned record";
  if (!isOf) say("prompt_matches", false, `a ${form.kind} has no prompt hash`);
  else
    say(
      "prompt_matches",
      wrong.length === 0,
      wrong.join("; ") || "the given prompt is the one that was sent",
    );
}

function byId(documents: readonly unknown[]): Map<string, JsonRecord> {
  const found = new Map<string, JsonRecord>();
  for (const document of documents) {
    const kind = formOf(document)?.kind;
    if (isJsonRecord(document) && (kind === "receipt" || kind === "pinned record"))
      found.set(String(document.receiptId), document);
  }
  return found;
}
