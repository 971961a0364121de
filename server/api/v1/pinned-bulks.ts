import { endpoint } from "@/server/api/endpoint";
import { BulkQuery, BulkRef, PinnedBulk, RawPinned } from "@/server/contract/pinned";
import * as pins from "@/server/domain/pins";

const tags = ["Pinned execution"];
const MAX_BODY = 64 * 1024 * 1024;

export const submitPinnedBulk = endpoint({
  method: "POST",
  path: "/v1/inference/pinned/bulk",
  summary: "Run up to 10,000 inputs through one pin",
  description:
    "One pin and the same settings for all `items`, each `{id, input}` with an id of its own. Answered as `accepted` when every item is written down; poll until `nextAction` is `stop`. At most `concurrency` items (1 to 64, 8 when not said) are under way at once, fewer while the provider refuses for want of capacity. Items are independent; each ends with a record of its own, and its hold is made at its turn: where a budget does not allow that any more, the item fails and nothing is sent. Limits and ceilings of the request are those of each item. An `idempotencyKey` (here or as the Idempotency-Key header) answers a repeated post with the first bulk.",
  tags,
  auth: ["service_principal"],
  scope: "pinned:run",
  bodyLimit: MAX_BODY,
  body: RawPinned,
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

export const getPinnedBulk = endpoint({
  method: "GET",
  path: "/v1/inference/pinned/bulk/{bulk_id}",
  summary: "How far a bulk is, and its items",
  description:
    "Items in the order they were given, up to 1,000 at once, all or those of one `status`; `nextCursor` goes on. `counts` are those of the whole bulk. An ended item has the receipt of its record; `safelyRetryable` says of it that sending it again runs nothing twice.",
  tags,
  auth: ["service_principal", "human_session", "panel_session"],
  scope: "jobs:read",
  params: BulkRef,
  query: BulkQuery,
  output: PinnedBulk,
  errors: ["NotFound"],
  run: (ctx, { params, query }) => pins.getBulk(ctx, params.bulk_id, query),
});

export const cancelPinnedBulk = endpoint({
  method: "POST",
  path: "/v1/inference/pinned/bulk/{bulk_id}/cancel",
  summary: "Cancel what of a bulk has not been sent",
  description:
    "Items that nobody has taken up become `canceled`; those under way end by themselves. Then the bulk is `partial`, or `failed` when nothing succeeded.",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "pinned:run",
  params: BulkRef,
  output: PinnedBulk,
  errors: ["NotFound", "CapabilityNotAllowed", "JobNotCancelable"],
  run: (ctx, { params }) => pins.cancelBulk(ctx, params.bulk_id),
});

export const retryPinnedBulk = endpoint({
  method: "POST",
  path: "/v1/inference/pinned/bulk/{bulk_id}/retry",
  summary: "Run those items again that can be run again safely",
  description:
    "A new bulk, with `retryOf`, of the items of an ended one that failed before they could run or were canceled; nothing that may have run is sent again. Asking twice answers with the same bulk, unless each has an Idempotency-Key of its own.",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "pinned:run",
  params: BulkRef,
  output: PinnedBulk,
  envelopeErrors: true,
  errors: [
    "NotFound",
    "BudgetExceeded",
    "PolicyRejected",
    "IdempotencyConflict",
    "RetryNotSafe",
    "PayloadUnavailable",
  ],
  idempotent: true,
  run: (ctx, { params, idempotencyKey }) => pins.retrySafely(ctx, params.bulk_id, idempotencyKey),
});
