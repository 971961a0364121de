import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { readSecrets } from "@/server/secrets";

/*
 * Envelope encryption: every value has a data key of its own, wrapped by the installation's vault key. The text form is
 * `v1.<vault key id>.<wrapped data key>.<nonce>.<ciphertext>.<tag>`, parts in base64url. What a value belongs to is
 * authenticated with it, so a ciphertext copied to another row does not open.
 */

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type VaultKey = { id: string; bytes: Buffer };
let known: VaultKey | undefined;
function vaultKey(): VaultKey {
  if (!known) {
    const bytes = readSecrets().vaultKey;
    known = { id: createHash("sha256").update(bytes).digest("base64url").slice(0, 11), bytes };
  }
  return known;
}

/** Encrypts a value. `belongsTo` names where it is kept, e.g. `delivery_endpoint|whe_…|secret`; opening needs the same. */
export function sealSecret(value: string | Uint8Array, belongsTo: string): string {
  const key = vaultKey();
  const dataKey = randomBytes(32);
  const wrapped = encrypt(key.bytes, dataKey, `${key.id}|${belongsTo}`);
  const sealed = encrypt(dataKey, Buffer.from(value), belongsTo);
  const parts = [
    Buffer.concat([wrapped.nonce, wrapped.text, wrapped.tag]),
    sealed.nonce,
    sealed.text,
    sealed.tag,
  ];
  return ["v1", key.id, ...parts.map((part) => part.toString("base64url"))].join(".");
}

/** Decrypts what `sealSecret` made. Throws when it was changed, belongs elsewhere, or the vault key is another. */
export function openSecret(sealed: string, belongsTo: string): Buffer {
  const key = vaultKey();
  const [version, keyId, ...encoded] = sealed.split(".");
  const [wrapped, nonce, text, tag] = encoded.map((part) => Buffer.from(part, "base64url"));
  if (version !== "v1" || !wrapped || !nonce || !text || !tag || encoded.length !== 4)
    throw new Error("This is no sealed value.");
  if (keyId !== key.id) throw new Error(`Sealed under vault key ${keyId}; this installation has ${key.id}.`);
  const dataKey = decrypt(
    key.bytes,
    {
      nonce: wrapped.subarray(0, NONCE_BYTES),
      text: wrapped.subarray(NONCE_BYTES, -TAG_BYTES),
      tag: wrapped.subarray(-TAG_BYTES),
    },
    `${key.id}|${belongsTo}`,
  );
  return decrypt(dataKey, { nonce, text, tag }, belongsTo);
}

/**
 * A keyed hash of a secret: two are alike only where the secret and what it belongs to are. Without the vault key it says
 * nothing, and nobody can try secrets against it.
 */
export function fingerprintOf(value: string, belongsTo: string): string {
  const key = createHmac("sha256", vaultKey().bytes).update("fingerprint").digest();
  return createHmac("sha256", key)
    .update(JSON.stringify([belongsTo, value]))
    .digest("hex")
    .slice(0, 32);
}

/** Signs a text for one purpose, in base64url: whoever has no vault key can make no other. */
export function signText(text: string, purpose: string): string {
  const key = createHmac("sha256", vaultKey().bytes).update(`sign|${purpose}`).digest();
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
