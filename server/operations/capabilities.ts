import {
  bytes,
  endpoint,
  eventStream,
  type Incoming,
  lastEventIdOf,
  raw,
  reply,
  wantsEventStream,
} from "@/server/api/endpoint";
import { isKnown } from "@/server/api/known";
import {
  BenchmarksQuery,
  CapabilityBenchmarks,
  CapabilityDescriptor,
  CapabilityList,
  CapabilityRef,
  CatalogViewer,
  ExecutionTargetList,
  ListCapabilities,
  ResolutionRequest,
  ResolutionResponse,
} from "@/server/contract/capabilities";
import { JsonObject } from "@/server/contract/common";
import { QuoteQuery, RawEnvelope } from "@/server/contract/envelope";
import { ExecutionRef, InvocationResult, Job } from "@/server/contract/jobs";
import { RetailQuote } from "@/server/contract/pricing";
import * as catalog from "@/server/domain/catalog";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import * as usage from "@/server/domain/usage";
import { PLANNING } from "./planning";

const MEGABYTE = 1024 * 1024;

/** The prepared catalog response, or 304 for a caller that already has it. Authenticated callers see more. */
function ready({ body, etag }: catalog.Published, incoming: Incoming) {
  const headers = { etag, "cache-control": "private, no-cache", vary: "authorization, cookie, origin" };
  if (isKnown(incoming, etag)) return bytes({ status: 304, headers });
  return bytes({ headers: { ...headers, "content-type": "application/json" }, body });
}

export const listCapabilities = endpoint({
  method: "GET",
  path: "/v1/capabilities",
  summary: "List capabilities",
  tags: ["Discovery"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  query: ListCapabilities,
  output: CapabilityList,
  partly: [304],
  errors: [],
  run: async (ctx, { query, incoming }) =>
    ready(catalog.publishedList(query, await catalog.viewerOf(ctx, query)), incoming),
});

export const resolveCapability = endpoint({
  method: "POST",
  path: "/v1/capabilities/resolve",
  summary: "Find capabilities for an intended outcome",
  description:
    "Ranks the catalog by the words of the intent. Requirements keep only the matches that satisfy all of them; if none does, all matches are returned with their unmet requirements. `runnableNow` is determined for authenticated callers only.",
  tags: ["Discovery"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  body: ResolutionRequest,
  output: ResolutionResponse,
  errors: [],
  run: async (ctx, { body }) => catalog.resolve(ctx, body),
});

export const describeCapability = endpoint({
  method: "GET",
  path: "/v1/capabilities/{capability_key}",
  summary: "Retrieve a capability",
  tags: ["Discovery"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  params: CapabilityRef,
  query: CatalogViewer,
  output: CapabilityDescriptor,
  partly: [304],
  errors: ["UNKNOWN_CAPABILITY"],
  run: async (ctx, { params, query, incoming }) => {
    const viewer = await catalog.viewerOf(ctx, query);
    return ready(await catalog.publishedDescriptor(params.capability_key, viewer), incoming);
  },
});

export const listExecutionTargets = endpoint({
  method: "GET",
  path: "/v1/capabilities/{capability_key}/execution-targets",
  summary: "List a capability's models",
  tags: ["Discovery"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  params: CapabilityRef,
  query: CatalogViewer,
  output: ExecutionTargetList,
  partly: [304],
  errors: ["UNKNOWN_CAPABILITY"],
  run: async (ctx, { params, query, incoming }) =>
    ready(catalog.publishedTargets(params.capability_key, await catalog.viewerOf(ctx, query)), incoming),
});

export const describeBenchmarks = endpoint({
  method: "GET",
  path: "/v1/capabilities/{capability_key}/benchmarks",
  summary: "Retrieve what a comparison of a capability's models measures",
  description:
    "Returns the definition of the measures and how far your own executions cover them; comparative scores are not computed. Coverage counts executions of the last 90 days with a known outcome, in the key's project or in `projectId`. Callers without a project get the definition and zeros.",
  tags: ["Discovery"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  params: CapabilityRef,
  query: BenchmarksQuery,
  output: CapabilityBenchmarks,
  partly: [304],
  errors: ["UNKNOWN_CAPABILITY"],
  run: async (ctx, { params, query, incoming }) =>
    ready(
      catalog.toPublished(
        JSON.stringify(await usage.benchmarks(ctx, params.capability_key, query.projectId)),
      ),
      incoming,
    ),
});

const quoting = {
  method: "POST",
  tags: ["Quotes"],
  auth: ["service_principal", "human_session", "panel_session"],
  scope: "capabilities:run",
  params: CapabilityRef,
  query: QuoteQuery,
  body: RawEnvelope,
  bodyLimit: 32 * MEGABYTE,
  output: RetailQuote,
  errors: PLANNING,
} as const;

export const quoteCapability = endpoint({
  ...quoting,
  path: "/v1/capabilities/{capability_key}/quote",
  summary: "Create a quote, without reserving or charging anything",
  run: (ctx, { params, query, body }) => quotes.quote(ctx, params.capability_key, body, query.projectId),
});

export const estimateCapability = endpoint({
  ...quoting,
  path: "/v1/capabilities/{capability_key}/estimate",
  summary: "Create a quote (older name of the same operation)",
  run: (ctx, { params, query, body }) => quotes.quote(ctx, params.capability_key, body, query.projectId),
});

export const invokeCapability = endpoint({
  method: "POST",
  path: "/v1/capabilities/{capability_key}/invoke",
  summary: "Invoke a capability and wait for its output, or stream it",
  description:
    "With `executionMode: Stream` the response returns immediately with the execution's id; read its frames at `/v1/executions/{execution_id}/events`. Add `Accept: text/event-stream` to receive the frames in the response itself.",
  tags: ["Execution"],
  auth: ["service_principal"],
  scope: "capabilities:run",
  params: CapabilityRef,
  body: RawEnvelope,
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
    "invalid_expression",
    "unknown_variable",
    "unsupported_function",
    "division_by_zero",
    "numeric_overflow",
    "precision_limit_exceeded",
    "complexity_limit_exceeded",
    "invalid_variable",
    "domain_error",
    "invalid_parameter",
  ],
  idempotent: true,
  run: async (ctx, { params, body, incoming, idempotencyKey }) => {
    const result = await jobs.invoke(ctx, params.capability_key, body, idempotencyKey);
    const headers = { "x-execution-id": result.executionId };
    if (body.executionMode !== "Stream" || !wantsEventStream(incoming)) return reply(result, { headers });
    return eventStream(
      await jobs.followFrames(ctx, result.executionId, undefined, "capabilities:run"),
      toEvent,
      headers,
    );
  },
});

export const planImages = endpoint({
  method: "POST",
  path: "/v1/capabilities/image.generate.v1/plan",
  summary: "Preview how images and sheet cells would be generated, without writing or spending anything",
  tags: ["Execution"],
  auth: ["service_principal"],
  scope: "capabilities:run",
  body: RawEnvelope,
  bodyLimit: 32 * MEGABYTE,
  output: JsonObject,
  envelopeErrors: true,
  errors: [
    ...PLANNING.filter((code) => code !== "UNKNOWN_CAPABILITY"),
    "QUOTE_MISMATCH",
    "REESTIMATE_REQUIRED",
  ],
  run: (ctx, { body }) => jobs.preview(ctx, "image.generate.v1", body),
});

const toEvent = ({ id, event, data }: jobs.Frame) => ({ id: String(id), event, data });

export const followExecution = endpoint({
  method: "GET",
  path: "/v1/executions/{execution_id}/events",
  summary: "Stream the events of an execution",
  description:
    "Sends the frames `execution.started`, `token` {index, text}, `usage`, and finally `execution.succeeded` {typedOutput, usage, terminationReason, receiptId} or `execution.failed` {error}, each with an id and JSON data. `Last-Event-ID` resumes after that frame, on any instance. The stream ends after the final frame. Close an EventSource when you receive it: an EventSource reconnects whenever a stream ends, and the final `retry` only delays that by a day.",
  tags: ["Execution"],
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: ExecutionRef,
  output: raw("text/event-stream"),
  errors: ["NotFound"],
  run: async (ctx, { params, incoming }) =>
    eventStream(await jobs.followFrames(ctx, params.execution_id, lastEventIdOf(incoming)), toEvent),
});

export const submitJob = endpoint({
  method: "POST",
  path: "/v1/capabilities/{capability_key}/jobs",
  summary: "Create a durable job",
  tags: ["Execution"],
  auth: ["service_principal", "panel_session"],
  scope: "capabilities:run",
  params: CapabilityRef,
  body: RawEnvelope,
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
  run: async (ctx, { params, body, idempotencyKey }) => {
    const job = await jobs.submit(ctx, params.capability_key, body, idempotencyKey);
    return reply(job, { headers: { "x-execution-id": job.jobId } });
  },
});
