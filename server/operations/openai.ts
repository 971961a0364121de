import { type RequestContext, raw, reply, streamed } from "@/server/api/endpoint";
import { type ConversationRequest, inWordsOf, requestedProject, toInvoke } from "@/server/api/openai/ask";
import { begun } from "@/server/api/openai/begun";
import { chatAsk, chatFrames, toCompletion } from "@/server/api/openai/chat";
import { toOpenAIWire } from "@/server/api/openai/errors";
import { conversation } from "@/server/api/openai/models/kinds";
import { getModel, listModels } from "@/server/api/openai/models/list";
import { readModel } from "@/server/api/openai/models/model";
import { withQueueDeadline } from "@/server/api/openai/queue-deadline";
import { recalled } from "@/server/api/openai/recall";
import { wholeInput } from "@/server/api/openai/references";
import { responseFrames, responsesAsk, toResponse } from "@/server/api/openai/responses";
import {
  type Head,
  type Heard,
  heard,
  removed,
  responseHead,
  responseHeaders,
} from "@/server/api/openai/result";
import {
  ChatCompletion,
  ChatRequest,
  Model,
  ModelList,
  ModelRef,
  OpenAIError,
} from "@/server/contract/openai";
import { ResponseObject, ResponsesRequest } from "@/server/contract/openai-responses";
import { OUTPUT_REMOVED } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { byKeys, operations } from "./define";

const openai = operations("OpenAI", byKeys("capabilities:run"));

const MEGABYTE = 1024 * 1024;
const refusals = { toWire: toOpenAIWire, schema: OpenAIError };
/**
 * The charset is for our web server: a stopping process ends streams whose type is exactly `text/event-stream`, and
 * lets these finish, because their readers cannot reconnect.
 */
const headersOfStream = (head: Head) => ({
  "content-type": "text/event-stream; charset=utf-8",
  ...responseHeaders(head),
});

const asking = {
  bodyLimit: 32 * MEGABYTE,
  also: [raw("text/event-stream")],
  refusals,
  errors: [
    "UNKNOWN_CAPABILITY",
    "PromptTooLong",
    "CONNECTION_REQUIRED",
    "EXTERNAL_ACTIONS_DISABLED",
    "ROUTE_UNAVAILABLE",
    "BudgetExceeded",
    "PROJECT_REQUIRED",
    "InvalidInput",
    "PolicyRejected",
    "funding_required",
    "USE_JOBS",
    "IdempotencyConflict",
    "PayloadUnavailable",
    "ProviderRejected",
    "PROVIDER_EMPTY_OUTPUT",
    "PROVIDER_ERROR",
    "StructuredOutputInvalid",
    "StructuredOutputRepairFailed",
    "ExecutionTimeout",
    "TRANSPORT_AMBIGUOUS",
    "ProviderUnavailable",
    "Cancelled",
  ],
  idempotent: true,
} as const;

/** Invokes the requested capability. Throws the error of a removed output, if the request is a replay. */
async function invoke(ctx: Ctx, ask: ConversationRequest, { incoming, idempotencyKey }: RequestContext) {
  const wanted = await readModel(ctx, ask.model, conversation, requestedProject(incoming));
  const { capabilityKey, envelope, door } = toInvoke(ask, wanted, incoming);
  const result = await inWordsOf(ask.spelling, () =>
    jobs.invoke(ctx, capabilityKey, withQueueDeadline(envelope, incoming), {
      idempotencyHeader: idempotencyKey,
      door,
    }),
  );
  const head = responseHead(result);
  // These responses have no field for a warning, so replaying an output that is no longer kept is refused.
  if (result.warnings.some(({ code }) => code === OUTPUT_REMOVED.code)) throw removed(head);
  return { result, head };
}

async function follow(ctx: Ctx, head: Head): Promise<AsyncIterable<Heard>> {
  return begun(heard(await jobs.followFrames(ctx, head.id, undefined, { right: "capabilities:run" }), head));
}

export const createChatCompletion = openai.post("/v1/chat/completions", {
  ...asking,
  summary: "Create a chat completion (OpenAI-compatible)",
  description:
    "Invokes a text capability, with the same admission, budgets and receipts. `model` is a capability key, `capability@provider/model`, or `provider/model`. With `stream` the response is sent in chunks; a failure before the first text has the status that it has without `stream`. The returned id is the execution's id; the header `x-capstan-receipt-id` has the id of its receipt.",
  body: ChatRequest,
  example: { model: "text.general.fast.v1", messages: [{ role: "user", content: "How deep is the sea?" }] },
  output: ChatCompletion,
  async http(ctx, { body, ...given }) {
    const { result, head } = await invoke(ctx, await recalled(ctx, chatAsk(body)), given);
    if (!body.stream) return reply(toCompletion(body, result), { headers: responseHeaders(head) });
    return streamed(chatFrames(body, head, await follow(ctx, head)), headersOfStream(head));
  },
});

export const createResponse = openai.post("/v1/responses", {
  ...asking,
  summary: "Create a response (OpenAI-compatible)",
  description:
    "Invokes a text capability, as for chat completions. Conversations are not stored: send the whole conversation each time. With `stream` the response is sent as events.",
  body: ResponsesRequest,
  example: { model: "text.general.fast.v1", input: "How deep is the sea?" },
  output: ResponseObject,
  async http(ctx, { body, ...given }) {
    const ask = await recalled(ctx, responsesAsk(body, await wholeInput(ctx, body)));
    const { result, head } = await invoke(ctx, ask, given);
    if (!body.stream) return reply(toResponse(body, result), { headers: responseHeaders(head) });
    return streamed(responseFrames(body, head, await follow(ctx, head)), headersOfStream(head));
  },
});

export const listOpenAIModels = openai.get("/v1/models", {
  refusals,
  summary: "List models (OpenAI-compatible)",
  description: "The capabilities and models that the key can use now, with limits and prices.",
  output: ModelList,
  http: async (ctx, { incoming }) => ({
    object: "list" as const,
    data: await listModels(ctx, requestedProject(incoming)),
  }),
});

export const getOpenAIModel = openai.get("/v1/models/{model}", {
  refusals,
  summary: "Retrieve a model (OpenAI-compatible)",
  params: ModelRef,
  takesSlashes: true,
  output: Model,
  errors: ["InvalidInput"],
  http: (ctx, { model, incoming }) => getModel(ctx, model, requestedProject(incoming)),
});
