import { execFile } from "node:child_process";
import { createPublicKey, verify as verifyEd25519 } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import type { Receipt } from "@/server/contract/receipts";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { forgetKeys, listSigningKeys, publicKeys, rotateSigningKey } from "@/server/domain/signing";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "@/server/platform/text/canonical";
import { verifyDocument } from "@/server/verify";
import { PROGRAMS } from "@/testing/setup/programs";
import { inlineStep, makeProject } from "@/testing/world";

const system = systemCtx("test");
const messages = [{ role: "user", content: "How deep is the sea?" }];

beforeEach(forgetKeys);

async function makeReceipt(metadata: Record<string, Json> = {}): Promise<Receipt> {
  const { ctx, clock } = await makeProject();
  const { jobId } = await jobs.submit(ctx, "text.general.fast.v1", { input: { messages }, metadata });
  await jobs.run(ctx, jobId, inlineStep(clock));
  return jobs.receipt(ctx, jobId);
}

/** Verifies a signature with node:crypto, the JWK and the signing rule, independently of the verifier. */
async function isSigned({ signature, provenance, ...rest }: Receipt): Promise<boolean> {
  const { receiptHash: _hash, ...sealed } = provenance;
  const key = (await publicKeys()).keys.find(({ kid }) => kid === signature.keyId);
  if (!key) return false;
  const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: "jwk" });
  const body = Buffer.from(canonicalText({ ...rest, provenance: sealed } as unknown as Json));
  return verifyEd25519(null, body, publicKey, Buffer.from(signature.value, "base64url"));
}

test("a receipt is signed by a published key, and the key alone is enough to check it", async () => {
  const receipt = await makeReceipt({ note: "ünïcode \u2028", deep: [{ n: 1e21 }, -0.5] });
  expect(receipt.signature).toEqual({
    alg: "EdDSA",
    keyId: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    value: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
  });
  expect(await isSigned(receipt)).toBe(true);
  expect(await isSigned({ ...receipt, status: "failed" })).toBe(false);
  const { rows } = await pool.query("SELECT signature, key_id FROM receipt WHERE id = $1", [
    receipt.receiptId,
  ]);
  expect(rows).toEqual([{ signature: receipt.signature.value, key_id: receipt.signature.keyId }]);
});

test("a rotated key no longer signs, and its signatures still verify", async () => {
  const before = await makeReceipt();
  const next = await rotateSigningKey(system);
  expect(next.active).toBe(true);
  const after = await makeReceipt();
  expect(after.signature.keyId).not.toBe(before.signature.keyId);
  const set = await publicKeys();
  for (const receipt of [before, after]) {
    expect(await verifyDocument(receipt, set)).toMatchObject({ verified: true });
    expect(await isSigned(receipt)).toBe(true);
  }
  const listed = await listSigningKeys(system);
  expect(listed.find(({ keyId }) => keyId === before.signature.keyId)).toMatchObject({ active: false });
  expect(listed.filter(({ active }) => active)).toHaveLength(1);
});

test("three processes that start at once share one active key", async () => {
  await pool.query("UPDATE signing_key SET retired_at = now() WHERE retired_at IS NULL");
  const ask = () => promisify(execFile)(process.execPath, [join(PROGRAMS, "keys-process.mjs")]);
  const answers = await Promise.all([ask(), ask(), ask()]);
  for (const { stdout } of answers) expect(Number(stdout)).toBeGreaterThan(0);
  expect((await listSigningKeys(system)).filter(({ active }) => active)).toHaveLength(1);
}, 60_000);

test("concurrent rotations leave one active key, and the database refuses a second one", async () => {
  await Promise.all([1, 2, 3, 4].map(() => rotateSigningKey(system)));
  expect((await listSigningKeys(system)).filter(({ active }) => active)).toHaveLength(1);
  const second = pool.query(
    "INSERT INTO signing_key (id, public_key, private_key, created_at) VALUES ('x', '{}', '', now())",
  );
  await expect(second).rejects.toThrow("signing_key_one_active");
});

test("a key that cannot be opened is replaced, so executions still end", async () => {
  await publicKeys();
  await pool.query("UPDATE signing_key SET private_key = 'v1.lost' WHERE retired_at IS NULL");
  forgetKeys();
  const receipt = await makeReceipt();
  expect(await verifyDocument(receipt, await publicKeys())).toMatchObject({ verified: true });
});

test("private keys are stored encrypted, and only an operator manages keys", async () => {
  await publicKeys();
  const { rows } = await pool.query("SELECT private_key FROM signing_key WHERE private_key <> 'v1.lost'");
  for (const { private_key } of rows) expect(private_key).toMatch(/^v1\.[^.]+\.[^.]+\.[^.]+\.[^.]+\.[^.]+$/);
  const { ctx } = await makeProject();
  await expect(rotateSigningKey(ctx)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  await expect(listSigningKeys(ctx)).rejects.toMatchObject({ code: "AuthorizationFailed" });
});
