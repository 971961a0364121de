import { canonicalText } from "@/server/canonical-text";
import type { Json } from "@/server/step";

/*
 * Verifies a receipt from its own text and the public keys alone: Web Crypto and nothing of the service, so the same
 * code runs in the panel, in the command `npm run verify` and in whatever copies this file and the one it imports.
 */

/** A public key as `/.well-known/jwks.json` lists it. */
export type PublicKey = { kty: string; crv?: string; x?: string; kid?: string; [member: string]: unknown };
export type KeySet = { keys: PublicKey[] };

export type Check = {
  name: "receipt_form" | "hash_matches" | "key_known" | "signature_valid";
  ok: boolean;
  detail: string;
};
export type Verification = {
  /** Every check passed. */
  verified: boolean;
  receiptId: string | null;
  receiptHash: string | null;
  keyId: string | null;
  checks: Check[];
};

type JsonObject = { [key: string]: Json };
type Signature = { alg: string; keyId: string; value: string };

/**
 * The text a receipt's hash and signature are of: the RFC 8785 form of the receipt without `signature` and without
 * `provenance.receiptHash`.
 */
export function sealedText({ signature: _signature, ...receipt }: JsonObject): string {
  if (!isObject(receipt.provenance)) return canonicalText(receipt);
  const { receiptHash: _hash, ...provenance } = receipt.provenance;
  return canonicalText({ ...receipt, provenance });
}

/** Checks a receipt's hash and its signature against a key set. Never throws for what it is given: it says what is wrong. */
export async function verifyReceipt(receipt: unknown, keySet: KeySet): Promise<Verification> {
  if (!isObject(receipt)) return nothing("This is no JSON object.");
  const provenance = isObject(receipt.provenance) ? receipt.provenance : {};
  const receiptHash = textOf(provenance.receiptHash);
  const signature = signatureOf(receipt.signature);
  const base = { receiptId: textOf(receipt.receiptId), receiptHash, keyId: signature?.keyId ?? null };
  const checks: Check[] = [];
  const say = (name: Check["name"], ok: boolean, detail: string) => {
    checks.push({ name, ok, detail });
    return ok;
  };

  let sealed: Uint8Array<ArrayBuffer>;
  try {
    sealed = new TextEncoder().encode(sealedText(receipt));
  } catch (error) {
    return nothing(error instanceof Error ? error.message : "It has no canonical form.");
  }
  say(
    "receipt_form",
    receipt.schemaVersion === "service.receipt.v1" && base.receiptId !== null,
    `${receipt.schemaVersion ?? "no schema version"}, ${sealed.byteLength} bytes in canonical form`,
  );
  const hash = hex(await crypto.subtle.digest("SHA-256", sealed));
  say(
    "hash_matches",
    hash === receiptHash,
    `the body's SHA-256 is ${hash}; the receipt says ${receiptHash ?? "nothing"}`,
  );

  if (!signature) {
    say("key_known", false, "the receipt names no key");
    say("signature_valid", false, "the receipt has no signature of the form {alg: EdDSA, keyId, value}");
    return { ...base, verified: false, checks };
  }
  const key = keySet.keys.find((each) => each.kid === signature.keyId);
  const isGenuine = key !== undefined && (await thumbprint(key)) === signature.keyId;
  say(
    "key_known",
    isGenuine,
    key === undefined
      ? `no key ${signature.keyId} among the ${keySet.keys.length} given`
      : isGenuine
        ? `${signature.keyId} is the thumbprint of a key of the set`
        : `the key listed as ${signature.keyId} is another key`,
  );
  const isValid = key !== undefined && (await isSignedBy(key, signature.value, sealed));
  say(
    "signature_valid",
    isValid,
    isValid ? "Ed25519 over the canonical body" : "the signature is not of this body by this key",
  );
  return { ...base, verified: checks.every((check) => check.ok), checks };
}

/** The RFC 7638 thumbprint of an Ed25519 key: what its `kid` is. Null for a key of another kind. */
export async function thumbprint({ kty, crv, x }: PublicKey): Promise<string | null> {
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") return null;
  const required = new TextEncoder().encode(JSON.stringify({ crv, kty, x })); // in the order the RFC asks for
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", required)));
}

async function isSignedBy(key: PublicKey, value: string, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = fromBase64url(value);
  if (bytes?.byteLength !== 64 || typeof key.x !== "string") return false;
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.x };
    const imported = await crypto.subtle.importKey("jwk", jwk, { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify({ name: "Ed25519" }, imported, bytes, body);
  } catch (error) {
    // A browser without Ed25519 can say neither yes nor no; a malformed key is just wrong.
    if (error instanceof DOMException && error.name === "NotSupportedError") throw error;
    return false;
  }
}

/** Exactly the three members; anything more would be unsigned text that looks signed. */
function signatureOf(value: Json | undefined): Signature | null {
  if (!isObject(value)) return null;
  const { alg, keyId, value: text, ...more } = value;
  const isWhole = alg === "EdDSA" && typeof keyId === "string" && typeof text === "string";
  return isWhole && Object.keys(more).length === 0 ? { alg, keyId, value: text } : null;
}

function nothing(detail: string): Verification {
  const checks: Check[] = [{ name: "receipt_form", ok: false, detail }];
  return { verified: false, receiptId: null, receiptHash: null, keyId: null, checks };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: Json | undefined) => (typeof value === "string" ? value : null);
const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Null unless the text is the one form these bytes have: else a changed last digit could pass unseen. */
function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    return base64url(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}
