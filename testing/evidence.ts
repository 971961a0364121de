import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import type { KeySet } from "@/server/verify";

/* The four kinds of sealed documents, made with node:crypto alone: verification depends only on their form. */

export type Document = { [member: string]: Json };

/** A new signer with its key set. */
export function makeSigner() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const jwk = { kty: "OKP", crv: "Ed25519", x };
  const text = JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x });
  const kid = createHash("sha256").update(text).digest("base64url");
  return {
    keys: { keys: [{ ...jwk, kid }] } satisfies KeySet,
    signatureOf: (body: Document): Document => ({
      alg: "EdDSA",
      keyId: kid,
      value: sign(null, Buffer.from(canonicalText(body)), privateKey).toString("base64url"),
    }),
  };
}
export type Signer = ReturnType<typeof makeSigner>;

const hashOf = (value: Json) => sha256Hex(canonicalText(value));
const ULID = "01jd0000000000000000000000";
export const PROMPT = { instructions: "Answer in one word.", input: "How deep is the sea? “Tief.”" };

/** A job's receipt, with the members that the verifier reads. */
export function makeReceipt({ signatureOf }: Signer, fields: Document = {}): Document {
  const body = {
    schemaVersion: "service.receipt.v1",
    receiptId: `rcpt_${ULID}`,
    jobId: `wfr_${ULID}`,
    status: "succeeded",
    requestHash: `v1:${sha256Hex("asked")}`,
    outputHash: sha256Hex("answered"),
    providerSubmission: "attempted",
    amount: 12.5,
    tags: ["a", "ü"],
    route: { provider: "openai", model: "gpt-5.6-sol", api: "responses" },
    timestamps: { createdAt: "2026-11-22T06:00:00.000Z", completedAt: "2026-11-22T06:00:01.000Z" },
    provenance: { engine: null, deterministic: true },
    ...fields,
  };
  const provenance = { ...(body.provenance as Document), receiptHash: hashOf(body) };
  return { ...body, provenance, signature: signatureOf(body) };
}

/** A pinned record with its output, its native response and a correction. */
export function makeRecord({ signatureOf }: Signer, fields: Document = {}): Document {
  const output = { text: "Deep — 10 935 m.", toolCalls: [], finishReason: "stop" };
  const nativeResponse = { id: "resp_1", output: [{ text: output.text, logprob: -0.25 }] };
  const receiptId = `rcpt_${ULID.replace("d", "e")}`;
  const body = {
    schemaVersion: "service.pinned-record.v1",
    receiptId,
    pinnedId: receiptId.replace("rcpt", "pin"),
    projectId: "cpr_1",
    pin: { provider: "openai", model: "gpt-5.6-sol", api: "responses" },
    isolation: "stateless",
    processing: "standard",
    requestHash: `v1:${sha256Hex("pinned")}`,
    instructionsHash: sha256Hex(PROMPT.instructions),
    inputHash: sha256Hex(PROMPT.input),
    toolsHash: null,
    responseFormatHash: null,
    settings: { store: false, temperature: 0.2 },
    status: "succeeded",
    outputHash: hashOf(output),
    nativeResponseHash: hashOf(nativeResponse),
    providerModel: "gpt-5.6-sol-2026-10-01",
    providerFingerprint: null,
    providerSubmission: "attempted",
    safelyRetryable: false,
    completedAt: "2026-11-22T06:00:02.000Z",
    ...fields,
  };
  const correction = {
    correctionId: "pcr_1",
    receiptId,
    kind: "charge_resolved",
    details: { chargedMicros: 12 },
  };
  return {
    ...body,
    receipt_id: receiptId,
    recordHash: hashOf(body),
    signature: signatureOf(body),
    output,
    nativeResponse,
    corrections: [{ ...correction, signature: signatureOf(correction) }],
  };
}

export function makeManifest({ signatureOf }: Signer, receipts: Document[]): Document {
  const body = {
    schemaVersion: "service.manifest.v1",
    manifestId: `mft_${ULID}`,
    projectId: "cpr_1",
    label: "Sea depths, “first run”",
    experimentHash: null,
    createdAt: "2026-11-22T06:00:03.000Z",
    receipts,
  };
  return { ...body, manifestHash: hashOf(body), signature: signatureOf(body) };
}

export function makeLockfile({ signatureOf }: Signer, body: Document): Document {
  const digest = createHash("sha256").update(canonicalText(body)).digest("base64");
  return { ...body, integrity: `sha256-${digest}`, signature: signatureOf(body) };
}
