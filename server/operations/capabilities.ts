import { published } from "@/server/api/answers/published";
import {
  eventStream,
  type Incoming,
  lastEventIdOf,
  nothingMore,
  raw,
  reply,
  wantsEventStream,
} from "@/server/api/endpoint";
import { EXPRESSION_ERROR_CODES } from "@/server/compute/expression/refusal";
import {
  CapabilityBenchmarks,
  CapabilityDescriptor,
  CapabilityList,
  DescribeCapability,
  ExecutionTargetList,
  ListCapabilities,
  ListExecutionTargets,
  ResolutionRequest,
  ResolutionResponse,
  ResolveCapability,
} from "@/server/contract/capabilities";
import { InProject, JsonObject } from "@/server/contract/common";
import { InvokeRequest, JobRequest, QuoteRequest, RawEnvelope } from "@/server/contract/envelope";
import { type Idempotency, InvocationResult, Job } from "@/server/contract/jobs";
import { RetailQuote } from "@/server/contract/pricing";
import * as catalog from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import type { SentKey } from "@/server/domain/envelope";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import * as usage from "@/server/domain/usage";
import { byAnybody, byEveryCaller, byKeys, byKeysAndEmbeds, operations } from "./define";
import { PLANNING } from "./planning";

const open = operations("Discovery", byAnybody);
const quoting = operations("Quotes", byEveryCaller("capabilities:run"));
const run = operations("Execution", byKeys("capabilities:run"));
const read = operations("Execution", byKeysAndEmbeds("jobs:read"));
const runByEmbeds = operations("Execution", byKeysAndEmbeds("capabilities:run"));

const MEGABYTE = 1024 * 1024;

/**
 * The source of a submission's idempotency key, and whether it was a replay. A repeat under a key that is generated
 * here is recognized only for REPEAT_GUARD_SECONDS.
 */
function idempotencyOf(ctx: Ctx, body: RawEnvelope, header: SentKey | undefined): Idempotency {
  const isGiven = [body.idempotencyKey, header?.key].some(
    (key) => typeof key === "string" && key.trim() !== "",
  );
  return { source: isGiven ? "client" : "minted", replayed: ctx.isReplay === true };
}

/**
 * The prepared catalog response, or 304 for a caller that already has it. Caches must not share it, because
 * authenticated callers see more.
 */
const ready = ({ body, etag }: catalog.Published, incoming: Incoming) =>
  published(incoming, body, {
    etag,
    "cache-control": "private, no-cache",
    vary: "authorization, cookie, origin",
  });

export const listCapabilities = open.get("/v1/capabilities", {
  summary: "List capabilities",
  query: ListCapabilities,
  output: CapabilityList,
  partly: [304],
  http: async (ctx, { query, incoming }) =>
    ready(catalog.publishedList(query, await catalog.viewerOf(ctx, query)), incoming),
});

export const resolveCapability = open.post("/v1/capabilities/resolve", {
  summary: "Find capabilities for an intended outcome",
  description:
    "Ranks the catalog by the words of the intent, so read the titles: if no match does what is meant, file a capability request (`POST /v1/capability-requests`). Requirements keep only the matches that satisfy all of them; if none does, all matches are returned with their unmet requirements. `runnableNow` is determined for authenticated callers only.",
  query: ResolveCapability,
  body: ResolutionRequest,
  example: { intent: "Translate product texts into German" },
  output: ResolutionResponse,
  run: async (ctx, { body, query }) => catalog.resolve(ctx, body, query.view),
});

export const describeCapability = open.get("/v1/capabilities/{capability_key}", {
  summary: "Retrieve a capability",
  description:
    "`view=brief` returns in under 4 KB what it takes to run it: `inputSchema`, `limits`, `priceFrom`, where an answer says what you paid, and in `run` one request for each mode.",
  query: DescribeCapability,
  output: CapabilityDescriptor,
  partly: [304],
  http: async (ctx, { capability_key, query, incoming }) => {
    if (query.view === "brief") return ready(catalog.publishedBrief(capability_key), incoming);
    const viewer = await catalog.viewerOf(ctx, query);
    return ready(await catalog.publishedDescriptor(capability_key, viewer), incoming);
  },
});

export const listExecutionTargets = open.get("/v1/capabilities/{capability_key}/execution-targets", {
  summary: "List a capability's models",
  description: "`view=brief` returns the names of those that can run now.",
  query: ListExecutionTargets,
  output: ExecutionTargetList,
  partly: [304],
  http: async (ctx, { capability_key, query, incoming }) => {
    const viewer = await catalog.viewerOf(ctx, query);
    return ready(catalog.publishedTargets(capability_key, viewer, query.view), incoming);
  },
});

export const describeBenchmarks = open.get("/v1/capabilities/{capability_key}/benchmarks", {
  summary: "Retrieve what a comparison of a capability's models measures",
  description:
    "Returns the definition of the measures and how far your own executions cover them; comparative scores are not computed. Coverage counts executions of the last 90 days with a known outcome, in the key's project or in `projectId`. Callers without a project get the definition and zeros.",
  query: InProject,
  output: CapabilityBenchmarks,
  partly: [304],
  http: async (ctx, { capability_key, query, incoming }) =>
    ready(
      catalog.toPublished(JSON.stringify(await usage.benchmarks(ctx, capability_key, query.projectId))),
      incoming,
    ),
});

const IMAGES = "image.generate.v1";
const VERIFICATION = "document.verify.v1";
const IMAGE = { input: { prompt: "A lighthouse at dusk" } };
const VERIFY = {
  input: {
    document: { text: "Total: 118.40 EUR" },
    fields: [{ name: "total", question: "What is the total?" }],
  },
};

const quote = {
  query: InProject,
  body: RawEnvelope,
  documents: QuoteRequest,
  example: { input: { messages: [{ role: "user", content: "How deep is the sea?" }] } },
  bodyLimit: 32 * MEGABYTE,
  output: RetailQuote,
  errors: PLANNING,
  dedicated: { [IMAGES]: IMAGE },
};

export const quoteCapability = quoting.post("/v1/capabilities/{capability_key}/quote", {
  ...quote,
  summary: "Create a quote, without reserving or charging anything",
  run: (ctx, { capability_key, query, body }) => quotes.quote(ctx, capability_key, body, query.projectId),
});

export const estimateCapability = quoting.post("/v1/capabilities/{capability_key}/estimate", {
  ...quote,
  summary: "Create a quote (older name of the same operation)",
  run: (ctx, { capability_key, query, body }) => quotes.quote(ctx, capability_key, body, query.projectId),
});

export const invokeCapability = run.post("/v1/capabilities/{capability_key}/invoke", {
  summary: "Invoke a capability and wait for its output, or stream it",
  description:
    "With `executionMode: Stream` the response returns immediately with the execution's id; read its frames at `/v1/executions/{execution_id}/events`. Add `Accept: text/event-stream` to receive the frames in the response itself.",
  body: RawEnvelope,
  documents: InvokeRequest,
  example: {
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
    execution: { executionConstraints: { maxCostUsd: 0.05 } },
  },
  dedicated: { [VERIFICATION]: VERIFY },
  bodyLimit: 32 * MEGABYTE,
  output: InvocationResult,
  also: [raw("text/event-stream")],
  envelopeErrors: true,
  errors: [
    ...PLANNING,
    "funding_required",
    "EXTERNAL_ACTIONS_DISABLED",
    "USE_JOBS",
    "QUOTE_MISMATCH",
    "REESTIMATE_REQUIRED",
    "IdempotencyConflict",
    "ProviderRejected",
    "UnsupportedTld",
    "PROVIDER_EMPTY_OUTPUT",
    "PROVIDER_ERROR",
    "StructuredOutputInvalid",
    "StructuredOutputRepairFailed",
    "EmptyStructuredOutput",
    "ReasoningBudgetExhausted",
    "OutputLimitReached",
    "ExecutionTimeout",
    "TRANSPORT_AMBIGUOUS",
    "ProviderUnavailable",
    "Cancelled",
    ...EXPRESSION_ERROR_CODES,
  ],
  idempotent: true,
  http: async (ctx, { capability_key, body, incoming, idempotencyKey }) => {
    const ran = await jobs.invoke(ctx, capability_key, body, { idempotencyHeader: idempotencyKey });
    const result = { ...ran, idempotency: idempotencyOf(ctx, body, idempotencyKey) };
    const headers = { "x-execution-id": result.executionId };
    if (body.executionMode !== "Stream" || !wantsEventStream(incoming)) return reply(result, { headers });
    return eventStream(
      await jobs.followFrames(ctx, result.executionId, undefined, { right: "capabilities:run" }),
      toEvent,
      headers,
    );
  },
});

export const planImages = run.post("/v1/capabilities/image.generate.v1/plan", {
  summary: "Preview how images and sheet cells would be generated, without writing or spending anything",
  body: RawEnvelope,
  documents: JobRequest,
  example: { input: { prompt: "A lighthouse at dusk", variantCount: 2 } },
  bodyLimit: 32 * MEGABYTE,
  output: JsonObject,
  envelopeErrors: true,
  errors: [...PLANNING, "QUOTE_MISMATCH", "REESTIMATE_REQUIRED"],
  run: (ctx, { body }) => jobs.preview(ctx, IMAGES, body),
});

const toEvent = ({ id, event, data }: jobs.JobFrame) => ({ id: String(id), event, data });

export const followExecution = read.get("/v1/executions/{execution_id}/events", {
  summary: "Stream the events of an execution",
  description:
    "Sends the frames `execution.started`, `token` {index, text}, `usage`, and finally `execution.succeeded` {typedOutput, usage, charge, terminationReason, receiptId} or `execution.failed` {error, usage, charge, receiptId}, each with an id and JSON data. `Last-Event-ID` resumes after that frame, on any instance; beyond the last one, the stream resumes at it. The stream ends after the final frame. An EventSource reconnects when a stream ends: with the id of the last frame it gets 204, which ends it.",
  output: raw("text/event-stream"),
  partly: [204],
  http: async (ctx, { execution_id, incoming }) =>
    (await nothingMore(incoming, (id) => jobs.hasLastFrame(ctx, execution_id, id))) ??
    eventStream(await jobs.followFrames(ctx, execution_id, lastEventIdOf(incoming)), toEvent),
});

export const submitJob = runByEmbeds.post("/v1/capabilities/{capability_key}/jobs", {
  summary: "Create a durable job",
  body: RawEnvelope,
  documents: JobRequest,
  example: {
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
    execution: { executionConstraints: { maxCostUsd: 0.05 } },
    idempotencyKey: "article-17",
  },
  dedicated: { [IMAGES]: IMAGE, [VERIFICATION]: VERIFY },
  bodyLimit: 32 * MEGABYTE,
  output: Job,
  envelopeErrors: true,
  errors: [
    ...PLANNING,
    "funding_required",
    "EXTERNAL_ACTIONS_DISABLED",
    "USE_INVOKE",
    "QUOTE_MISMATCH",
    "REESTIMATE_REQUIRED",
    "IdempotencyConflict",
    "DURABLE_CONCURRENCY_LIMIT",
  ],
  idempotent: true,
  answersAtOnce: true,
  run: async (ctx, { capability_key, body, idempotencyKey }) => {
    const job = await jobs.submit(ctx, capability_key, body, idempotencyKey);
    const answer = { ...job, idempotency: idempotencyOf(ctx, body, idempotencyKey) };
    return reply(answer, { headers: { "x-execution-id": job.jobId } });
  },
});
