import { etagOf, FOR_ALL_PAGES, published } from "@/server/api/answers/published";
import { JsonObject } from "@/server/contract/common";
import {
  Lockfile,
  LockfileQuery,
  LockfileVerification,
  Manifest,
  ManifestRequest,
  ManifestVerification,
} from "@/server/contract/provenance";
import { JsonWebKeySet } from "@/server/contract/receipts";
import * as provenance from "@/server/domain/provenance";
import { publicKeys } from "@/server/domain/signing";
import { byAnybody, byKeys, byKeysAndEmbeds, operations } from "./define";

const open = operations("Provenance", byAnybody);
const write = operations("Provenance", byKeys("provenance:write"));
const read = operations("Provenance", byKeysAndEmbeds("jobs:read"));
const readByKeys = operations("Provenance", byKeys("jobs:read"));

export const getKeySet = open.get("/.well-known/jwks.json", {
  summary: "Retrieve the public keys that sign receipts",
  description:
    "A JWK Set (RFC 7517) of Ed25519 keys. Retired keys remain listed, so that what they signed can still be verified.",
  output: JsonWebKeySet,
  partly: [304],
  http: async (_ctx, { incoming }) => {
    const body = JSON.stringify(await publicKeys());
    // Cached for a short time: a receipt signed by a new key must be verifiable soon after a rotation.
    return published(incoming, body, { ...FOR_ALL_PAGES, etag: etagOf(body) });
  },
});

export const createManifest = write.post("/v1/provenance/manifests", {
  summary: "Create a signed manifest of receipts",
  description:
    "Binds receipts of jobs and pinned executions of one project, each by its own hash. A manifest is immutable and can be verified without this service (docs/reference/evidence.md).",
  body: ManifestRequest,
  example: { label: "Run 1", receiptIds: ["rcpt_01jd0000000000000000000000"] },
  output: Manifest,
  errors: ["PROJECT_REQUIRED", "CONFLICTING_EXECUTION_CONSTRAINT", "ComparisonUnjudged"],
  run: (ctx, { body }) => provenance.createManifest(ctx, body),
});

export const getManifest = read.get("/v1/provenance/manifests/{manifest_id}", {
  summary: "Retrieve a manifest",
  output: Manifest,
  run: (ctx, { manifest_id }) => provenance.getManifest(ctx, manifest_id),
});

export const verifyManifest = readByKeys.post("/v1/provenance/manifests/{manifest_id}/verify", {
  summary: "Verify a manifest against its stored receipts",
  description:
    "Hashes every receipt again and checks its signature. `providerRetries` counts requests beyond the first of each call. `providerSpend` is the known cost of the providers' work, without the sandbox.",
  output: ManifestVerification,
  run: (ctx, { manifest_id }) => provenance.verifyManifest(ctx, manifest_id),
});

export const getLockfile = read.get("/v1/provenance/lockfile", {
  summary: "Retrieve the signed lockfile of a pinned record",
  query: LockfileQuery,
  output: Lockfile,
  errors: ["NotFound", "JobNotFinished"],
  run: (ctx, { query }) => provenance.getLockfile(ctx, query.receipt_id),
});

export const verifyLockfile = readByKeys.post("/v1/provenance/lockfile/verify", {
  summary: "Verify a lockfile: the pin, its request, its account and its last run",
  description:
    "Send the lockfile exactly as you received it. The response names anything that was changed in it.",
  body: JsonObject,
  documents: Lockfile,
  example: {
    schemaVersion: "service.lockfile.v1",
    projectId: "cpr_01jd0000000000000000000000",
    pin: { provider: "openai", model: "gpt-5.2", api: "responses" },
    isolation: "stateless",
    processing: "standard",
    settings: { temperature: 0 },
    requestHash: "0".repeat(64),
    promptHash: "0".repeat(64),
    toolsHash: null,
    responseFormatHash: null,
    providerModel: "gpt-5.2",
    providerFingerprint: null,
    receiptId: "rcpt_01jd0000000000000000000000",
    createdAt: "2026-01-31T12:00:00.000Z",
    integrity: `sha256-${"A".repeat(43)}=`,
    signature: { alg: "EdDSA", keyId: "a-key-id", value: "the-signature" },
  },
  output: LockfileVerification,
  run: (ctx, { body }) => provenance.verifyLockfile(ctx, body),
});
