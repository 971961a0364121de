import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "../platform/text/canonical-text";
import {
  type Bytes,
  hashOfText,
  isSignedBy,
  type KeySet,
  type PublicKey,
  sha256Of,
  thumbprint,
  utf8,
} from "./ed25519";
import { isJsonRecord, type JsonRecord, textOrNull } from "./json";
import { type DocumentForm, type DocumentKind, FORMS, formOf } from "./kinds";

/*
 * Verifies documents from their text and the public keys only. The code uses Web Crypto and nothing of the service, so it
 * also runs in the panel, in `npm run verify` and in copies of this folder and the canonical form.
 */

export type Check = {
  name:
    | "form"
    | "hash_matches"
    | "key_known"
    | "signature_valid"
    | "output_matches"
    | "native_response_matches"
    | "corrections_signed"
    // These checks need more than the document: the prompt, the receipts or another copy.
    | "prompt_matches"
    | "receipts_match"
    | "same_as_other";
  ok: boolean;
  detail: string;
};

export type Verification = {
  /** Every check passed. */
  verified: boolean;
  /** Null if the document is none of the four kinds or has no canonical form. */
  kind: DocumentKind | null;
  id: string | null;
  /** The hash that the document states: hex, or the integrity of a lockfile. */
  hash: string | null;
  keyId: string | null;
  checks: Check[];
};

export type Say = (name: Check["name"], ok: boolean, detail: string) => void;

/**
 * Verifies one document without any other: its form, its hash, its signature against a key set, and the contents outside
 * a record's seal. Reports what is wrong with the document, and never throws because of it. `duplicates` are the members
 * that occurred twice in its text.
 */
export async function verifyAlone(
  document: unknown,
  keys: KeySet,
  duplicates: string[] = [],
): Promise<Verification> {
  if (!isJsonRecord(document)) return nothing("This is not a JSON object.");
  const form = formOf(document);
  if (!form) return nothing(unknownKind(document));
  let sealed: Bytes;
  try {
    // The whole document, not only the sealed part: evidence must have a canonical form.
    canonicalText(document);
    sealed = utf8(canonicalText(form.sealed(document)));
  } catch (error) {
    return nothing(`It has no canonical form: ${error instanceof Error ? error.message : String(error)}.`);
  }

  const checks: Check[] = [];
  const say: Say = (name, ok, detail) => void checks.push({ name, ok, detail });
  const id = textOrNull(document[form.id]);
  const wrong = wrongForm(document, form, duplicates);
  say(
    "form",
    wrong === null,
    wrong ?? `${document.schemaVersion}, ${sealed.byteLength} bytes in canonical form`,
  );

  const hash = form.hashOf(document);
  const computed = form.written(await sha256Of(sealed));
  const isHashed = hash === computed;
  const signature = signatureOf(document.signature);
  const key = signature ? keys.keys.find(({ kid }) => kid === signature.keyId) : undefined;
  const isSigned = Boolean(signature && key && (await isSignedBy(key, signature.value, sealed)));
  say("hash_matches", isHashed, hashDetail(form, hash, computed, isSigned));
  if (!signature) {
    say("key_known", false, "the signature names no key");
    say("signature_valid", false, "there is no signature of the form {alg: EdDSA, keyId, value}");
  } else {
    await checkKey(key, keys, { seal: signature, sealed, say });
    say("signature_valid", isSigned, signatureDetail(isSigned, isHashed, key !== undefined));
  }
  if (form.kind === "pinned record") await checkBound(document, keys, say);
  const verified = checks.every((check) => check.ok);
  return { verified, kind: form.kind, id, hash, keyId: signature?.keyId ?? null, checks };
}

function unknownKind(document: JsonRecord): string {
  const inside = formOf(document.receipt);
  if (inside) return `This is a response. The ${inside.kind} is its member \`receipt\`; save only that.`;
  const known = Object.keys(FORMS).join(", ");
  return `Its schemaVersion is ${JSON.stringify(document.schemaVersion) ?? "missing"}. Known versions: ${known}.`;
}

function wrongForm(document: JsonRecord, form: DocumentForm, duplicates: string[]): string | null {
  if (duplicates.length > 0)
    return `${duplicates.join(", ")} occurs twice, and parsers differ in which one they use`;
  if (textOrNull(document[form.id]) === null) return `${form.id} is missing`;
  if (form.kind !== "pinned record") return null;
  if (document.receipt_id !== document.receiptId) return "receipt_id differs from receiptId";
  return Array.isArray(document.corrections) ? null : "corrections is not a list";
}

function hashDetail(form: DocumentForm, hash: string | null, computed: string, isSigned: boolean): string {
  if (hash === computed) return `${form.hashMember} is ${computed}`;
  const both = `the SHA-256 of the sealed content is ${computed}, but ${form.hashMember} is ${hash ?? "missing"}`;
  return isSigned ? `${both}; the signature is valid, so ${form.hashMember} itself was changed` : both;
}

function signatureDetail(isSigned: boolean, isHashed: boolean, isKeyGiven: boolean): string {
  if (isSigned) return "Ed25519 over the sealed content";
  if (!isKeyGiven) return "the signature cannot be checked without its key";
  return isHashed
    ? "the signature does not match this document, but the hash does: the signature was changed, or the document and its hash together"
    : "the signature does not match this document: sealed content was changed, added or removed";
}

async function checkKey(
  key: PublicKey | undefined,
  keys: KeySet,
  {
    seal: { keyId, value },
    sealed,
    say,
  }: { seal: { keyId: string; value: string }; sealed: Bytes; say: Say },
): Promise<void> {
  if (key) {
    const isGenuine = (await thumbprint(key)) === keyId;
    const is = isGenuine ? `${keyId} is the thumbprint of a key in the set` : "";
    say("key_known", isGenuine, is || `the key listed as ${keyId} is a different key`);
    return;
  }
  let signer: string | undefined;
  for (const other of keys.keys) if (await isSignedBy(other, value, sealed)) signer = other.kid;
  const changed = signer
    ? `; the signature was made by ${signer} in the set, so signature.keyId was changed`
    : "";
  say("key_known", false, `the key ${keyId} is not among the ${keys.keys.length} given${changed}`);
}

/** Checks a record's contents outside its seal, which are bound by a hash inside the seal or have their own signature. */
async function checkBound(record: JsonRecord, keys: KeySet, say: Say): Promise<void> {
  await checkContent("output_matches", record, { member: "output", hashMember: "outputHash", say });
  await checkContent("native_response_matches", record, {
    member: "nativeResponse",
    hashMember: "nativeResponseHash",
    say,
  });
  const corrections = Array.isArray(record.corrections) ? record.corrections : [];
  const forged: number[] = [];
  for (const [place, correction] of corrections.entries())
    if (!(await isSignedCorrection(correction, record.receiptId, keys))) forged.push(place);
  say(
    "corrections_signed",
    forged.length === 0,
    forged.length > 0
      ? `corrections ${forged.map((place) => `[${place}]`).join(", ")} have no valid signature for this record`
      : corrections.length === 0
        ? "no corrections in this copy; later corrections are outside the seal"
        : `${corrections.length}, each with a valid signature`,
  );
}

async function checkContent(
  name: Check["name"],
  record: JsonRecord,
  { member, hashMember, say }: { member: string; hashMember: string; say: Say },
): Promise<void> {
  const value = record[member];
  const wanted = record[hashMember] ?? null;
  if (value === undefined || value === null) {
    say(
      name,
      true,
      wanted === null
        ? `the record has no ${member}`
        : `this copy has no ${member}; ${hashMember} remains valid`,
    );
    return;
  }
  const computed = await hashOfText(canonicalText(value));
  say(
    name,
    computed === wanted,
    computed === wanted
      ? `${hashMember} is ${computed}`
      : `${member} was changed: its SHA-256 is ${computed}, but ${hashMember} is ${wanted ?? "missing"}`,
  );
}

async function isSignedCorrection(value: Json, receiptId: Json | undefined, keys: KeySet): Promise<boolean> {
  if (!isJsonRecord(value) || value.receiptId !== receiptId) return false;
  const { signature: stated, ...rest } = value;
  const signature = signatureOf(stated);
  const key = signature && keys.keys.find(({ kid }) => kid === signature.keyId);
  if (!key || (await thumbprint(key)) !== signature.keyId) return false;
  return isSignedBy(key, signature.value, utf8(canonicalText(rest)));
}

/** Null unless the signature has exactly the three members: any other would be unsigned text that looks signed. */
function signatureOf(value: Json | undefined): { keyId: string; value: string } | null {
  if (!isJsonRecord(value)) return null;
  const { alg, keyId, value: text, ...more } = value;
  const isWhole = alg === "EdDSA" && typeof keyId === "string" && typeof text === "string";
  return isWhole && Object.keys(more).length === 0 ? { keyId, value: text } : null;
}

/** The verification of a text or value that is no readable document of the four kinds; `detail` says why. */
export const nothing = (detail: string): Verification => ({
  verified: false,
  kind: null,
  id: null,
  hash: null,
  keyId: null,
  checks: [{ name: "form", ok: false, detail }],
});
