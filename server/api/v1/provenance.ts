import { bytes, endpoint } from "@/server/api/endpoint";
import { isKnown } from "@/server/api/known";
import { sha256Hex } from "@/server/canonical";
import { JsonObject } from "@/server/contract/common";
import {
  Lockfile,
  LockfileQuery,
  LockfileVerification,
  Manifest,
  ManifestRef,
  ManifestRequest,
  ManifestVerification,
} from "@/server/contract/provenance";
import { JsonWebKeySet } from "@/server/contract/receipts";
import * as provenance from "@/server/domain/provenance";
import { publicKeys } from "@/server/domain/signing";

export const getKeySet = endpoint({
  method: "GET",
  path: "/.well-known/jwks.json",
  summary: "Read the public keys that signed receipts",
  description:
    "A JWK Set (RFC 7517) of Ed25519 keys. Keys that sign no more stay listed: what they signed can still be verified.",
  tags: ["Provenance"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  output: JsonWebKeySet,
  partly: [304],
  errors: [],
  run: async (_ctx, { incoming }) => {
    const body = JSON.stringify(await publicKeys());
    const headers = {
      etag: `"${sha256Hex(body).slice(0, 32)}"`,
      // Short: a receipt signed by a new key must be verifiable soon after a rotation.
      "cache-control": "public, max-age=60",
      "access-control-allow-origin": "*", // a public document that tools in browsers read
    };
    if (isKnown(incoming, headers.etag)) return bytes({ status: 304, headers });
    return bytes({ headers: { ...headers, "content-type": "application/json" }, body });
  },
});

const tags = ["Provenance"];

export const createManifest = endpoint({
  method: "POST",
  path: "/v1/provenance/manifests",
  summary: "Bind receipts into a signed manifest",
  description:
    "Of jobs and of pinned executions of one project, each by its own hash. It cannot be changed afterwards, and verifies without this service (docs/reference/evidence.md).",
  tags,
  auth: ["service_principal"],
  scope: "provenance:write",
  body: ManifestRequest,
  output: Manifest,
  errors: ["PROJECT_REQUIRED", "CONFLICTING_EXECUTION_CONSTRAINT", "ComparisonUnjudged"],
  run: (ctx, { body }) => provenance.createManifest(ctx, body),
});

export const getManifest = endpoint({
  method: "GET",
  path: "/v1/provenance/manifests/{manifest_id}",
  summary: "Read a manifest as it was sealed",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: ManifestRef,
  output: Manifest,
  errors: ["NotFound"],
  run: (ctx, { params }) => provenance.getManifest(ctx, params.manifest_id),
});

export const verifyManifest = endpoint({
  method: "POST",
  path: "/v1/provenance/manifests/{manifest_id}/verify",
  summary: "Hold a manifest against its receipts as they are kept today",
  description:
    "Every receipt is hashed and its signature checked anew. `providerRetries` are requests beyond the first of each call; `providerSpend` is what the providers' work cost where it is known, nothing of the sandbox.",
  tags,
  auth: ["service_principal"],
  scope: "jobs:read",
  params: ManifestRef,
  output: ManifestVerification,
  errors: ["NotFound"],
  run: (ctx, { params }) => provenance.verifyManifest(ctx, params.manifest_id),
});

export const getLockfile = endpoint({
  method: "GET",
  path: "/v1/provenance/lockfile",
  summary: "Read the signed lockfile of a pinned record",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  query: LockfileQuery,
  output: Lockfile,
  errors: ["NotFound", "JobNotFinished"],
  run: (ctx, { query }) => provenance.getLockfile(ctx, query.receipt_id),
});

export const verifyLockfile = endpoint({
  method: "POST",
  path: "/v1/provenance/lockfile/verify",
  summary: "Check that a lockfile still stands: the pin, its request, its account, its last run",
  description: "The body is the lockfile exactly as it was given out; what was changed in it is named.",
  tags,
  auth: ["service_principal"],
  scope: "jobs:read",
  body: JsonObject,
  output: LockfileVerification,
  errors: [],
  run: (ctx, { body }) => provenance.verifyLockfile(ctx, body),
});
