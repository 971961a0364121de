import { z } from "zod";
import { JsonObject } from "@/server/contract/common";
import { PinnedAnswer, PinnedBulk, PinnedRecord } from "@/server/contract/pinned";
import {
  Lockfile,
  LockfileVerification,
  Manifest,
  ManifestRequest,
  ManifestVerification,
} from "@/server/contract/provenance";
import * as pins from "@/server/domain/pins";
import * as provenance from "@/server/domain/provenance";
import { tool } from "../define";

const Id = z.string().min(1).max(64);
const OPEN_PIN =
  "request: each pinned interface has settings of its own, which OpenAPI has at POST /v1/pinned.";
const key = z.string().max(255).optional().describe("The same key and request run once.");

const run = tool({
  name: "pinned_run",
  title: "Run one request at a named provider, model and interface",
  description:
    "Exactly as it is; answers when it has ended, with its immutable record. Runs on the project's own account.",
  scope: "pinned:run",
  effect: "writes",
  open: OPEN_PIN,
  input: z.strictObject({
    request: JsonObject.describe("`pin` {provider, model, api}, `input`, and limits."),
    idempotency_key: key,
  }),
  output: PinnedAnswer,
  run: (ctx, { request, idempotency_key }) => pins.run(ctx, request, idempotency_key),
});

const get = tool({
  name: "pinned_get",
  title: "Read the record of a pinned execution",
  description: "Immutable, by its receipt's id.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ receipt_id: Id }),
  output: PinnedRecord,
  run: (ctx, { receipt_id }) => pins.get(ctx, receipt_id),
});

const bulk = tool({
  name: "pinned_bulk",
  title: "Run many inputs through one pin",
  description:
    "Up to 10,000 `items` {id, input}. Answers when all are written down; read it with pinned_bulk_get.",
  scope: "pinned:run",
  effect: "writes",
  open: OPEN_PIN,
  input: z.strictObject({
    request: JsonObject.describe("`pin`, `items` [{id, input}], `concurrency`, and limits of each item."),
    idempotency_key: key,
  }),
  output: PinnedBulk,
  run: (ctx, { request, idempotency_key }) => pins.submitBulk(ctx, request, idempotency_key),
});

const bulkGet = tool({
  name: "pinned_bulk_get",
  title: "Read how far a bulk is",
  description: "Its counts and a page of its items.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({
    bulk_id: Id,
    cursor: z.string().max(64).optional(),
    limit: z.int().min(1).max(1000).default(100),
  }),
  output: PinnedBulk,
  run: (ctx, { bulk_id, cursor, limit }) => pins.getBulk(ctx, bulk_id, { cursor, limit }),
});

const manifest = tool({
  name: "manifest_create",
  title: "Bind receipts into a signed manifest",
  description: "Of jobs and pinned executions of one project. It cannot be changed afterwards.",
  scope: "provenance:write",
  effect: "writes",
  input: z.strictObject({ manifest: ManifestRequest }),
  output: Manifest,
  run: (ctx, { manifest: body }) => provenance.createManifest(ctx, body),
});

const verify = tool({
  name: "manifest_verify",
  title: "Hold a manifest against its receipts",
  description: "Every receipt is hashed and its signature checked anew.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ manifest_id: Id }),
  output: ManifestVerification,
  run: (ctx, { manifest_id }) => provenance.verifyManifest(ctx, manifest_id),
});

const lockfile = tool({
  name: "lockfile_emit",
  title: "Get the signed lockfile of a pinned record",
  description: "What has to stay the same for the pin to stand.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ receipt_id: Id }),
  output: Lockfile,
  run: (ctx, { receipt_id }) => provenance.getLockfile(ctx, receipt_id),
});

const verifyLockfile = tool({
  name: "verify_lockfile",
  title: "Check that a lockfile still stands",
  description: "The pin, its request, its account, its last run; what was changed in it is named.",
  scope: "jobs:read",
  effect: "reads",
  open: "lockfile: given back as it was got, whatever was changed in it.",
  input: z.strictObject({ lockfile: JsonObject }),
  output: LockfileVerification,
  run: (ctx, { lockfile: given }) => provenance.verifyLockfile(ctx, given),
});

export const evidence = [run, get, bulk, bulkGet, manifest, verify, lockfile, verifyLockfile];
