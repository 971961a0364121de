import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { JsonWebKeySet, SigningKey } from "@/server/contract/receipts";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { signingKey } from "@/server/generated/schema";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { inTransaction, pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { jsonb, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/*
 * Receipts are signed with Ed25519 keys. One key is active at a time and is created on first use; private
 * keys are encrypted under the vault key. A retired key stays published, so its signatures can be verified
 * forever.
 */

/** Signature of a body and the id of its key, as the signed row stores them. */
export type Signed = { keyId: string; signature: string };

type Signer = { keyId: string; privateKey: KeyObject };
type KeyRow = { id: string; private_key: string };
type PublicJwk = { kty: "OKP"; crv: "Ed25519"; x: string };

/** After this interval a process checks in the background whether the keys were rotated. */
const LOOK_AGAIN_MS = 30_000;

let held: Promise<Signer> | undefined;
let readAt = 0;
let looking = false;

/**
 * Signs a canonical body. The key is cached per process; a rotation is noticed in the background, so no
 * signature waits for it.
 */
export async function signBody(body: string): Promise<Signed> {
  const { keyId, privateKey } = await currentSigner();
  return { keyId, signature: sign(null, Buffer.from(body), privateKey).toString("base64url") };
}

function currentSigner(): Promise<Signer> {
  if (!held) {
    readAt = performance.now();
    const reading = readSigner();
    held = reading;
    reading.catch(() => {
      if (held === reading) held = undefined;
    });
  } else if (performance.now() - readAt > LOOK_AGAIN_MS && !looking) {
    void lookAgain(held);
  }
  return held;
}

async function lookAgain(current: Promise<Signer>): Promise<void> {
  looking = true;
  readAt = performance.now();
  try {
    const row = await activeRow();
    if (row && row.id !== (await current).keyId) held = Promise.resolve(toSigner(row));
  } catch (error) {
    // The cached key stays published and valid, even if it is retired.
    log.warn({ err: error }, "whether the signing key was rotated could not be read");
  } finally {
    looking = false;
  }
}

/** Clears the cached keys, so the next signature and the next read of the public keys load them again. */
export function forgetKeys(): void {
  held = undefined;
  published = undefined;
}

async function readSigner(): Promise<Signer> {
  const row = (await activeRow()) ?? (await makeKey(new Date(), false));
  try {
    return toSigner(row);
  } catch (error) {
    // A lost vault key must not keep executions from ending. Signatures of the old key can still be
    // verified.
    log.error({ err: error, keyId: row.id }, "the signing key cannot be opened and is replaced by a new one");
    return toSigner(await makeKey(new Date(), true));
  }
}

const toSigner = (row: KeyRow): Signer => ({
  keyId: row.id,
  privateKey: createPrivateKey({
    key: openSecret(row.private_key, placeOf(row.id)),
    format: "der",
    type: "pkcs8",
  }),
});

const placeOf = (keyId: string) => `signing_key|${keyId}|private_key`;

const readActive = statement("signing_key.read.active", {
  row: pick(signingKey, "id private_key"),
  sql: "SELECT id, private_key FROM signing_key WHERE retired_at IS NULL",
});

async function activeRow(): Promise<KeyRow | null> {
  return readActive.first(pool, {});
}

/**
 * Creates a key and returns the active one. Without `replace`, a key that another process made first is
 * returned instead.
 */
async function makeKey(now: Date, replace: boolean): Promise<KeyRow> {
  const made = generateKeyPairSync("ed25519");
  const { x } = made.publicKey.export({ format: "jwk" });
  const jwk: PublicJwk = { kty: "OKP", crv: "Ed25519", x: x ?? "" };
  const id = thumbprintOf(jwk);
  const pkcs8 = made.privateKey.export({ format: "der", type: "pkcs8" });
  return inTransaction(async (client) => {
    // The lock orders rotations and first uses; readers do not wait for it.
    await lockKeys.run(client, {});
    const active = await readActive.first(client, {});
    if (active && !replace) return active;
    if (active) await retireKey.run(client, { id: active.id, now });
    const privateKey = sealSecret(pkcs8, placeOf(id));
    await insertKey.run(client, { id, publicKey: jwk, privateKey, now });
    return { id, private_key: privateKey };
  });
}

const lockKeys = statement("signing_key.lock", {
  sql: "LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE",
});
const retireKey = statement("signing_key.retire", {
  params: { id: text, now: timestamptz },
  sql: "UPDATE signing_key SET retired_at = $now WHERE id = $id",
});
const insertKey = statement("signing_key.insert", {
  params: { id: text, publicKey: signingKey.public_key, privateKey: text, now: timestamptz },
  sql: "INSERT INTO signing_key (id, public_key, private_key, created_at) VALUES ($id, $publicKey, $privateKey, $now)",
});

/** RFC 7638: SHA-256 of the required members in the order of their names. */
function thumbprintOf({ crv, kty, x }: PublicJwk): string {
  return createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");
}

/**
 * Retires the active key and creates the next one. Another process checks for it in the background of a
 * signature, at most every 30 seconds.
 */
export async function rotateSigningKey(ctx: Ctx): Promise<SigningKey> {
  access.authorize(ctx, "operator");
  const { id } = await makeKey(ctx.now(), true);
  forgetKeys();
  const key = (await listSigningKeys(ctx)).find(({ keyId }) => keyId === id);
  if (!key) throw new Error("the new signing key does not exist");
  return key;
}

const readKeys = statement("signing_key.list", {
  row: { ...pick(signingKey, "id created_at retired_at"), public_key: jsonb<PublicJwk>() },
  sql: "SELECT id, created_at, retired_at, public_key FROM signing_key ORDER BY created_at DESC, id",
});

/** Lists all signing keys, newest first, without their private keys. */
export async function listSigningKeys(ctx: Ctx): Promise<SigningKey[]> {
  access.authorize(ctx, "operator");
  const rows = await readKeys.all(pool, {});
  return rows.map((row) => ({
    keyId: row.id,
    algorithm: "EdDSA",
    active: row.retired_at === null,
    createdAt: row.created_at.toISOString(),
    retiredAt: row.retired_at?.toISOString() ?? null,
  }));
}

const PUBLISHED_FOR_MS = 5_000;
let published: { keys: Promise<JsonWebKeySet>; readAt: number } | undefined;

/**
 * Returns the public keys of all receipts ever sealed here, newest first. Creates the first key if there is
 * none.
 */
export function publicKeys(): Promise<JsonWebKeySet> {
  if (published && performance.now() - published.readAt < PUBLISHED_FOR_MS) return published.keys;
  const reading = { keys: readPublicKeys(), readAt: performance.now() };
  published = reading;
  reading.keys.catch(() => {
    if (published === reading) published = undefined;
  });
  return reading.keys;
}

async function readPublicKeys(): Promise<JsonWebKeySet> {
  await currentSigner();
  const rows = await readKeys.all(pool, {});
  return {
    keys: rows.map(({ id, public_key: { kty, crv, x } }) => ({
      kty,
      crv,
      x,
      kid: id,
      use: "sig",
      alg: "EdDSA",
    })),
  };
}
