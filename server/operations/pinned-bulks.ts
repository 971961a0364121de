import { BulkQuery, PinnedBulk, PinnedBulkRequest, RawPinned } from "@/server/contract/pinned";
import * as pins from "@/server/domain/pins";
import { byEveryCaller, byKeys, byKeysAndPeople, operations } from "./define";

const runByKeys = operations("Pinned execution", byKeys("pinned:run"));
const read = operations("Pinned execution", byEveryCaller("jobs:read"));
const run = operations("Pinned execution", byKeysAndPeople("pinned:run"));

const MAX_BODY = 64 * 1024 * 1024;

export const submitPinnedBulk = runByKeys.post("/v1/inference/pinned/bulk", {
  summary: "Create a pinned bulk of up to 10,000 inputs",
  description:
    "Runs all `items`, each `{id, input}` with a unique id, with one pin and the same settings. The response is `accepted` once every item is stored; poll until `nextAction` is `stop`. At most `concurrency` items (1 to 64, default 8) run at once, fewer while the provider has no capacity. Items are independent and each ends with its own record. Limits in the request apply to each item. Money is reserved when an item starts: if a budget no longer allows it, the item fails and nothing is sent. Repeating the request with the same `idempotencyKey` (in the body or as the Idempotency-Key header) returns the first bulk.",
  bodyLimit: MAX_BODY,
  body: RawPinned,
  documents: PinnedBulkRequest,
  example: {
    pin: { provider: "openai", model: "gpt-5.2", api: "responses" },
    items: [{ id: "one", input: "How deep is the sea?" }],
  },
  output: PinnedBulk,
  envelopeErrors: true,
  errors: [
    "UNKNOWN_EXECUTION_FIELD",
    "CONFLICTING_EXECUTION_CONSTRAINT",
    "PromptTooLong",
    "PROJECT_REQUIRED",
    "CONNECTION_REQUIRED",
    "EXTERNAL_ACTIONS_DISABLED",
    "MANAGED_PINNED_UNAVAILABLE",
    "BudgetExceeded",
    "PolicyRejected",
    "IdempotencyConflict",
  ],
  idempotent: true,
  run: (ctx, { body, idempotencyKey }) => pins.submitBulk(ctx, body, idempotencyKey),
});

export const getPinnedBulk = read.get("/v1/inference/pinned/bulk/{bulk_id}", {
  summary: "Retrieve a pinned bulk and its items",
  description:
    "Returns up to 1,000 items per page in their original order, optionally only those with one `status`; `nextCursor` continues. `counts` covers the whole bulk. An ended item has the receipt id of its record. `safelyRetryable` means that sending the item again cannot run it twice.",
  query: BulkQuery,
  output: PinnedBulk,
  run: (ctx, { bulk_id, query }) => pins.getBulk(ctx, bulk_id, query),
});

export const cancelPinnedBulk = run.post("/v1/inference/pinned/bulk/{bulk_id}/cancel", {
  summary: "Cancel the items of a pinned bulk that have not been sent",
  description:
    "Items that have not started become `canceled`; running items finish. The bulk then ends as `partial`, or as `failed` if no item succeeded.",
  output: PinnedBulk,
  errors: ["CapabilityNotAllowed", "JobNotCancelable"],
  run: (ctx, { bulk_id }) => pins.cancelBulk(ctx, bulk_id),
});

export const retryPinnedBulk = run.post("/v1/inference/pinned/bulk/{bulk_id}/retry", {
  summary: "Retry the items of a pinned bulk that are safe to retry",
  description:
    "Creates a new bulk, with `retryOf`, from the items of an ended bulk that failed before they could run or were canceled. Items that may have run are not sent again. Repeating the request returns the same bulk, unless it has a different Idempotency-Key.",
  output: PinnedBulk,
  envelopeErrors: true,
  errors: ["BudgetExceeded", "PolicyRejected", "IdempotencyConflict", "RetryNotSafe", "PayloadUnavailable"],
  idempotent: true,
  run: (ctx, { bulk_id, idempotencyKey }) => pins.retrySafely(ctx, bulk_id, idempotencyKey),
});
