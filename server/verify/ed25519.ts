/* Computes hashes and checks signatures with Web Crypto only, so that this file runs in a browser, in a command and in copies. */

/** A public key as `/.well-known/jwks.json` lists it. */
export type PublicKey = { kty: string; crv?: string; x?: string; kid?: string; [member: string]: unknown };
export type KeySet = { keys: PublicKey[] };
export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);
export const sha256Of = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
export const hex = (bytes: Bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
export const base64 = (bytes: Bytes) => btoa(String.fromCharCode(...bytes));
/** SHA-256 in hex; text is hashed as UTF-8. */
export const hashOfText = async (text: string) => hex(await sha256Of(utf8(text)));

const base64url = (bytes: Bytes) =>
  base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Null unless the text is the canonical encoding of its bytes, because a changed last digit could otherwise go unnoticed. */
function fromBase64url(text: string): Bytes | null {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    return base64url(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

/** The RFC 7638 thumbprint of an Ed25519 key, which is its `kid`. Null for a key of another kind. */
export async function thumbprint({ kty, crv, x }: PublicKey): Promise<string | null> {
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") return null;
  return base64url(await sha256Of(utf8(JSON.stringify({ crv, kty, x })))); // in the order that the RFC requires
}

/** Imported keys by `x`, so that a key that checks many signatures is imported once. */
const opened = new Map<string, Promise<CryptoKey>>();

function open(x: string): Promise<CryptoKey> {
  const known = opened.get(x);
  if (known) return known;
  const jwk = { kty: "OKP", crv: "Ed25519", x };
  const key = crypto.subtle.importKey("jwk", jwk, { name: "Ed25519" }, false, ["verify"]);
  if (opened.size >= 100) opened.clear();
  opened.set(x, key);
  return key;
}

/** True if this base64url text is the key's Ed25519 signature of these bytes. Throws if Ed25519 is not supported. */
export async function isSignedBy(key: PublicKey, signature: string, body: Bytes): Promise<boolean> {
  const bytes = fromBase64url(signature);
  if (bytes?.byteLength !== 64 || typeof key.x !== "string") return false;
  try {
    return await crypto.subtle.verify({ name: "Ed25519" }, await open(key.x), bytes, body);
  } catch (error) {
    // A browser without Ed25519 cannot decide; a malformed key is simply wrong.
    if (error instanceof DOMException && error.name === "NotSupportedError") throw error;
    return false;
  }
}
