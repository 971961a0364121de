import { reply } from "@/server/api/endpoint";
import { PinnedRequest, RawPinned } from "@/server/contract/pinned";
import { ListPinned, PinnedAnswer, PinnedPage, PinnedRecord } from "@/server/contract/pinned-records";
import * as pins from "@/server/domain/pins";
import { byEveryCaller, byKeys, byKeysAndPeople, operations } from "./define";

const run = operations("Pinned execution", byKeys("pinned:run"));
const read = operations("Pinned execution", byKeysAndPeople("jobs:read"));
const readByAll = operations("Pinned execution", byEveryCaller("jobs:read"));

const MEGABYTE = 1024 * 1024;

export const runPinned = run.post("/v1/inference/pinned", {
  summary: "Create a pinned execution at a named provider, model and interface",
  description:
    "Sends the request exactly as it is and returns the immutable record when the execution has ended. Nothing is filled in, rewritten, shortened or tried elsewhere, and a request that may have run is never sent again. Repeating the request with the same `idempotencyKey` (or `Idempotency-Key` header) returns the first execution. An error names its record in `details` and says whether the same request may be sent again.",
  body: RawPinned,
  documents: PinnedRequest,
  example: { pin: { provider: "openai", model: "gpt-5.2", api: "responses" }, input: "How deep is the sea?" },
  bodyLimit: 32 * MEGABYTE,
  output: PinnedAnswer,
  envelopeErrors: true,
  errors: [
    "UNKNOWN_EXECUTION_FIELD",
    "CONFLICTING_EXECUTION_CONSTRAINT",
    "MANAGED_PINNED_UNAVAILABLE",
    "PROJECT_REQUIRED",
    "CONNECTION_REQUIRED",
    "EXTERNAL_ACTIONS_DISABLED",
    "PromptTooLong",
    "PolicyRejected",
    "BudgetExceeded",
    "IdempotencyConflict",
    "ProviderRejected",
    "PROVIDER_EMPTY_OUTPUT",
    "PROVIDER_ERROR",
    "TRANSPORT_AMBIGUOUS",
    "ProviderUnavailable",
  ],
  idempotent: true,
  run: async (ctx, { body, idempotencyKey }) => {
    const answer = await pins.run(ctx, body, idempotencyKey);
    return reply(answer, { headers: { "x-execution-id": answer.executionId } });
  },
});

export const listPinned = read.get("/v1/inference/pinned", {
  summary: "List pinned records of a project, newest first",
  query: ListPinned,
  output: PinnedPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => pins.list(ctx, query),
});

export const getPinned = readByAll.get("/v1/inference/pinned/{receipt_id}", {
  summary: "Retrieve the immutable record of a pinned execution",
  output: PinnedRecord,
  errors: ["JobNotFinished"],
  run: (ctx, { receipt_id }) => pins.get(ctx, receipt_id),
});
