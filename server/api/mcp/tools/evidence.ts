import { z } from "zod";
import { JsonObject } from "@/server/contract/common";
import { PinnedBulk } from "@/server/contract/pinned";
import { PinnedAnswer, PinnedRecord } from "@/server/contract/pinned-records";
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
  "request: each pinned interface has its own settings, documented in OpenAPI at POST /v1/inference/pinned.";
const key = z.string().max(255).optional().describe("The same key and request run only once.");

const run = tool({
  name: "pinned_run",
  title: "Run a pinned execution",
  description:
    "Runs a request at exactly the named provider, model and interface, unchanged, on the project's own account. Returns the immutable record when it has ended.",
  scope: "pinned:run",
  effect: "writes",
  open: OPEN_PIN,
  input: z.strictObject({
    request: JsonObject.describe("`pin` {provider, model, api}, `input` and limits."),
    idempotency_key: key,
  }),
  output: PinnedAnswer,
  run: (ctx, { request, idempotency_key }) => pins.run(ctx, request, idempotency_key),
});

const get = tool({
  name: "pinned_get",
  title: "Get a pinned record",
  description: "Returns the immutable record of a pinned execution, by its receipt id.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ receipt_id: Id }),
  output: PinnedRecord,
  run: (ctx, { receipt_id }) => pins.get(ctx, receipt_id),
});

const bulk = tool({
  name: "pinned_bulk",
  title: "Create a pinned bulk",
  description:
    "Runs up to 10,000 `items` {id, input} with one pin. Returns once all items are stored; follow them with pinned_bulk_get.",
  scope: "pinned:run",
  effect: "writes",
  open: OPEN_PIN,
  input: z.strictObject({
    request: JsonObject.describe("`pin`, `items` [{id, input}], `concurrency`, and limits for each item."),
    idempotency_key: key,
  }),
  output: PinnedBulk,
  run: (ctx, { request, idempotency_key }) => pins.submitBulk(ctx, request, idempotency_key),
});

const bulkGet = tool({
  name: "pinned_bulk_get",
  title: "Get a pinned bulk",
  description: "Returns the status, the counts and one page of items of a bulk.",
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
  title: "Create a signed manifest",
  description: "Binds receipts of jobs and pinned executions of one project. A manifest is immutable.",
  scope: "provenance:write",
  effect: "writes",
  input: z.strictObject({ manifest: ManifestRequest }),
  output: Manifest,
  run: (ctx, { manifest: body }) => provenance.createManifest(ctx, body),
});

const verify = tool({
  name: "manifest_verify",
  title: "Verify a manifest",
  description: "Hashes every receipt again and checks its signature.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ manifest_id: Id }),
  output: ManifestVerification,
  run: (ctx, { manifest_id }) => provenance.verifyManifest(ctx, manifest_id),
});

const lockfile = tool({
  name: "lockfile_emit",
  title: "Get the signed lockfile of a pinned record",
  description: "Returns everything that must stay the same for the pin to remain valid.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ receipt_id: Id }),
  output: Lockfile,
  run: (ctx, { receipt_id }) => provenance.getLockfile(ctx, receipt_id),
});

const verifyLockfile = tool({
  name: "verify_lockfile",
  title: "Verify a lockfile",
  description:
    "Checks the pin, its request, its account and its last run, and names anything that was changed in the lockfile.",
  scope: "jobs:read",
  effect: "reads",
  open: "lockfile: pass it exactly as you received it; any change is reported.",
  input: z.strictObject({ lockfile: JsonObject }),
  output: LockfileVerification,
  run: (ctx, { lockfile: given }) => provenance.verifyLockfile(ctx, given),
});

export const evidenceTools = [run, get, bulk, bulkGet, manifest, verify, lockfile, verifyLockfile];
