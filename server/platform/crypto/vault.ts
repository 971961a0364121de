import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { readSecrets } from "@/server/platform/settings/secrets";

/*
 * Envelope encryption: `v1.<vault key id>.<wrapped data key>.<nonce>.<ciphertext>.<tag>` in base64url. The owner of a value is
 * authenticated with it, so a copy in another row does not open. A change of the vault key rewraps only the data key.
 */

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type VaultKey = { id: string; bytes: Buffer };
/** `current` encrypts; the other keys decrypt data from before a rotation or from a newer process. */
type Ring = { current: VaultKey; all: ReadonlyMap<string, VaultKey> };
let known: Ring | undefined;
function ring(): Ring {
  if (!known) {
    const { vaultKey, otherVaultKeys } = readSecrets();
    const keys = [vaultKey, ...otherVaultKeys].map((bytes) => ({ id: vaultKeyId(bytes), bytes }));
    known = { current: keys[0]!, all: new Map(keys.map((key) => [key.id, key])) };
  }
  return known;
}

/** Id of a vault key in the values that it sealed; reveals nothing of the key. */
export function vaultKeyId(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 11);
}

/** Ids of this process's vault keys. */
export function vaultKeys(): { sealsWith: string; opens: string[] } {
  return { sealsWith: ring().current.id, opens: [...ring().all.keys()] };
}

/** Makes the next use read the settings again. For tests and for the command that changes them. */
export function forgetVaultKeys(): void {
  known = undefined;
}

/** Encrypts a value. `belongsTo` names its place, e.g. `delivery_endpoint|whe_…|secret`; opening needs the same. */
export function sealSecret(value: string | Uint8Array, belongsTo: string): string {
  const dataKey = randomBytes(32);
  const { nonce, text, tag } = encrypt(dataKey, Buffer.from(value), belongsTo);
  const rest = [nonce, text, tag].map((part) => part.toString("base64url"));
  return ["v1", ring().current.id, wrap(dataKey, ring().current), ...rest].join(".");
}

/** Decrypts a value that `sealSecret` made. Throws if it was changed, belongs elsewhere, or its vault key is not here. */
export function openSecret(sealed: string, belongsTo: string): Buffer {
  const { keyId, wrapped, rest } = partsOf(sealed);
  const [nonce, text, tag] = rest.map((part) => Buffer.from(part, "base64url"));
  return decrypt(unwrap(wrapped, keyOf(keyId)), { nonce: nonce!, text: text!, tag: tag! }, belongsTo);
}

/**
 * True if the vault key of a sealed value is here. Throws if that key does not unwrap the data key, because then the value is
 * damaged.
 */
export function isKeyHere(sealed: string): boolean {
  const { keyId, wrapped } = partsOf(sealed);
  const key = ring().all.get(keyId);
  if (key) unwrap(wrapped, key);
  return key !== undefined;
}

/** Id of the vault key under which a value is sealed. Throws if it is not a sealed value. */
export function sealedUnder(sealed: string): string {
  return partsOf(sealed).keyId;
}

/**
 * Rewraps the data key under the current vault key without decrypting the value; null if it is already under that key. Throws if the
 * data key was changed or its vault key is not here.
 */
export function rewrapped(sealed: string): string | null {
  const { keyId, wrapped, rest } = partsOf(sealed);
  const { current } = ring();
  if (keyId === current.id) return null;
  return ["v1", current.id, wrap(unwrap(wrapped, keyOf(keyId)), current), ...rest].join(".");
}

function partsOf(sealed: string) {
  const [version, keyId, wrapped, ...rest] = sealed.split(".");
  if (version !== "v1" || !keyId || !wrapped || rest.length !== 3)
    throw new Error("This is not a sealed value.");
  return { keyId, wrapped, rest };
}

function keyOf(keyId: string): VaultKey {
  const key = ring().all.get(keyId);
  if (key) return key;
  const here = [...ring().all.keys()].join(", ");
  throw new Error(`Sealed under vault key ${keyId}; this installation has ${here}.`);
}

function wrap(dataKey: Buffer, key: VaultKey): string {
  const { nonce, text, tag } = encrypt(key.bytes, dataKey, key.id);
  return Buffer.concat([nonce, text, tag]).toString("base64url");
}

function unwrap(wrapped: string, key: VaultKey): Buffer {
  const bytes = Buffer.from(wrapped, "base64url");
  const parts = {
    nonce: bytes.subarray(0, NONCE_BYTES),
    text: bytes.subarray(NONCE_BYTES, -TAG_BYTES),
    tag: bytes.subarray(-TAG_BYTES),
  };
  return decrypt(key.bytes, parts, key.id);
}

/**
 * A keyed hash of a secret, equal only for the same secret, owner and current vault key: a rotation changes it. Without the vault
 * key the hash reveals nothing, and no one can try secrets against it.
 */
export function fingerprintOf(value: string, belongsTo: string): string {
  const key = createHmac("sha256", ring().current.bytes).update("fingerprint").digest();
  return createHmac("sha256", key)
    .update(JSON.stringify([belongsTo, value]))
    .digest("hex")
    .slice(0, 32);
}

/** Signs a text for one purpose, in base64url. Without a vault key no one can make another signature. */
export function signText(text: string, purpose: string): string {
  return macOf(text, purpose, ring().current);
}

/** True if `signText` made this signature, now or before a rotation. */
export function isSignedText(text: string, purpose: string, signature: string): boolean {
  const given = Buffer.from(signature);
  return [...ring().all.values()].some((key) => {
    const expected = Buffer.from(macOf(text, purpose, key));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function macOf(text: string, purpose: string, { bytes }: VaultKey): string {
  const key = createHmac("sha256", bytes).update(`sign|${purpose}`).digest();
  return createHmac("sha256", key).update(text).digest("base64url");
}

type Encrypted = { nonce: Buffer; text: Buffer; tag: Buffer };

function encrypt(key: Buffer, value: Buffer, belongsTo: string): Encrypted {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(belongsTo));
  const text = Buffer.concat([cipher.update(value), cipher.final()]);
  return { nonce, text, tag: cipher.getAuthTag() };
}

function decrypt(key: Buffer, { nonce, text, tag }: Encrypted, belongsTo: string): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(belongsTo));
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(text), decipher.final()]);
}
