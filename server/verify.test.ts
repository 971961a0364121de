import { generateKeyPairSync, sign } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { sha256Hex } from "@/server/canonical";
import { type KeySet, sealedText, thumbprint, verifyReceipt } from "@/server/verify";

/** A receipt made by hand: what is verified is the form, whoever made it. */
async function makeSigned(fields: Record<string, unknown> = {}) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  const jwk = { kty: "OKP", crv: "Ed25519", x };
  const kid = (await thumbprint(jwk)) ?? "";
  const unsigned = {
    schemaVersion: "service.receipt.v1",
    receiptId: "rcpt_1",
    amount: 12.5,
    tags: ["a", "ü"],
    provenance: { engine: null, deterministic: true },
    ...fields,
  };
  const body = sealedText(unsigned);
  const receipt = {
    ...unsigned,
    provenance: { ...unsigned.provenance, receiptHash: sha256Hex(body) },
    signature: {
      alg: "EdDSA",
      keyId: kid,
      value: sign(null, Buffer.from(body), privateKey).toString("base64url"),
    },
  };
  return { receipt, set: { keys: [{ ...jwk, kid }] } as KeySet };
}

let receipt: Awaited<ReturnType<typeof makeSigned>>["receipt"];
let set: KeySet;
beforeAll(async () => {
  ({ receipt, set } = await makeSigned());
});

const failed = async (value: unknown, keys = set) => {
  const { verified, checks } = await verifyReceipt(value, keys);
  expect(verified).toBe(false);
  return checks.filter((check) => !check.ok).map((check) => check.name);
};

test("a signed receipt verifies, whatever the order of its members", async () => {
  expect(await verifyReceipt(receipt, set)).toMatchObject({
    verified: true,
    receiptId: "rcpt_1",
    receiptHash: receipt.provenance.receiptHash,
    keyId: receipt.signature.keyId,
  });
  const reversed = Object.fromEntries(Object.entries(receipt).reverse());
  expect((await verifyReceipt(reversed, set)).verified).toBe(true);
});

test("no byte of a receipt can be changed unseen", async () => {
  const text = JSON.stringify(receipt);
  for (let at = 0; at < text.length; at++) {
    for (const other of ["0", "A", '"', "_", "}"]) {
      if (text[at] === other) continue;
      const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
      let parsed: unknown;
      try {
        parsed = JSON.parse(changed);
      } catch {
        continue; // no JSON any more
      }
      expect((await verifyReceipt(parsed, set)).verified, changed).toBe(false);
    }
  }
}, 60_000);

test("what is wrong is named", async () => {
  const { signature, provenance } = receipt;
  expect(await failed({ ...receipt, amount: 12 })).toEqual(["hash_matches", "signature_valid"]);
  const rehashed = { ...receipt, amount: 12 };
  const body = sealedText(rehashed);
  expect(await failed({ ...rehashed, provenance: { ...provenance, receiptHash: sha256Hex(body) } })).toEqual([
    "signature_valid",
  ]);
  expect(await failed({ ...receipt, signature: { ...signature, note: "unsigned" } })).toEqual([
    "key_known",
    "signature_valid",
  ]);
  expect(await failed({ ...receipt, signature: undefined })).toEqual(["key_known", "signature_valid"]);
  expect(await failed(receipt, { keys: [] })).toEqual(["key_known", "signature_valid"]);
  for (const value of [null, [], "text", 1]) expect(await failed(value)).toEqual(["receipt_form"]);
});

test("a key under a false name is not the key it claims to be", async () => {
  const other = await makeSigned();
  const [stranger] = other.set.keys;
  const kid = receipt.signature.keyId;
  expect(await failed(receipt, { keys: [{ ...stranger, kty: "OKP", kid }] })).toEqual([
    "key_known",
    "signature_valid",
  ]);
  // Signed whole by a stranger who calls the key ours.
  const forged = { ...other.receipt, signature: { ...other.receipt.signature, keyId: kid } };
  expect(await failed(forged, { keys: [{ ...stranger, kty: "OKP", kid }] })).toEqual(["key_known"]);
});
