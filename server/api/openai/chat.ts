import { COMMENT, toEventLine } from "@/server/api/answers/event-stream";
import type { InvocationResult } from "@/server/contract/jobs";
import { type ChatCompletion, type ChatMessage, ChatRequest } from "@/server/contract/openai";
import { readReturnedMembers, withReturnedMembers } from "@/server/domain/quotes";
import { type ConversationRequest, joinedLines, type RequestMessage, type Spelling } from "./ask";
import { toOpenAIError } from "./errors";
import { type Head, type Heard, responseHead, type Said, saidIn, tokensOf, withReceipt } from "./result";
import { conversationSettings } from "./settings";
import type { RequestedToolChoice } from "./tools";

/* POST /v1/chat/completions: converts its request to an ask, and an execution to its response. */

const spelling = (request: ChatRequest): Spelling => ({
  message: (place) => `messages[${place}]`,
  maxOutputTokens: request.max_tokens ? "max_tokens" : "max_completion_tokens",
  effort: "reasoning_effort",
  format: "response_format",
  schema: "response_format.json_schema.schema",
});

/** The request as an ask. */
export function chatAsk(request: ChatRequest): ConversationRequest {
  const { response_format: format } = request;
  return {
    model: request.model,
    messages: request.messages.map(toMessage),
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    effort: request.reasoning_effort,
    format: format?.type === "json_schema" ? { type: "json_schema", named: format.json_schema } : format,
    tools: {
      tools: request.tools?.map(({ cache_control, function: { parameters, ...tool } }) => ({
        type: "function",
        function: { ...given(tool), ...(parameters ? { parameters } : {}) },
        ...(cache_control ? { cache_control } : {}),
      })),
      choice: toChoice(request.tool_choice),
      parallel: request.parallel_tool_calls,
    },
    settings: conversationSettings(request, request, ChatRequest.shape),
    common: request,
    spelling: spelling(request),
  };
}

const given = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

function toChoice(choice: ChatRequest["tool_choice"]): RequestedToolChoice | null | undefined {
  if (typeof choice !== "object" || choice === null) return choice;
  if (choice.type === "function") return { name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  return { mode, names: tools.map((tool) => tool.function.name) };
}

function toMessage(message: ChatMessage): RequestMessage {
  const cache = message.cache_control;
  if (message.role === "tool")
    return { role: "tool", toolCallId: message.tool_call_id, cache, ...wordsOf(message.content) };
  if (message.role === "assistant") return toAnswer(message);
  const { role, content, name } = message;
  if (typeof content === "string") return { role, content, name, cache };
  return {
    role,
    name,
    cache,
    content: content.map((part) =>
      part.type === "text" ? part : { type: "image", ...part.image_url, cache_control: part.cache_control },
    ),
  };
}

/** An earlier answer, with any opaque members that the client sends back. */
function toAnswer(message: Extract<ChatMessage, { role: "assistant" }>): RequestMessage {
  const { content, refusal, tool_calls, cache_control: cache } = message;
  const toolCalls = (tool_calls ?? []).map((call) =>
    withReturnedMembers({ id: call.id, ...call.function }, call),
  );
  return {
    role: "assistant",
    cache,
    ...wordsOf(content ?? refusal ?? ""),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    brought: readReturnedMembers(message, toolCalls),
  };
}

type Words = Extract<ChatMessage, { role: "assistant" | "tool" }>["content"];
const wordsOf = (content: NonNullable<Words>): Pick<RequestMessage, "content" | "cacheEnds"> =>
  typeof content === "string"
    ? { content }
    : joinedLines(content.map((part) => (part.type === "text" ? part : { text: part.refusal })));

/** An execution that succeeded, as a completion. */
export function toCompletion(request: ChatRequest, result: InvocationResult): ChatCompletion {
  const head = responseHead(result);
  return {
    id: head.id,
    object: "chat.completion",
    created: head.madeAt,
    model: head.model,
    choices: saidIn(result, head).map((said, index) => ({
      index,
      message: {
        role: "assistant",
        content: said.text,
        refusal: said.refusal,
        ...broughtOf(said),
        ...toolCallsOf(said),
      },
      finish_reason: said.finish,
      logprobs: null,
    })),
    ...usageOf(tokensOf(result.usage)),
    metadata: withReceipt(request.metadata, head),
  };
}

/** The opaque members of an answer, and the id that names the answer when a client sends it back. */
const broughtOf = ({ id, opaque }: Said) => ({
  ...opaque,
  ...(id === undefined ? {} : { id }),
});

function toolCallsOf({ toolCalls }: Said) {
  if (toolCalls.length === 0) return {};
  return {
    tool_calls: toolCalls.map(({ id, name, arguments: text, opaque }) => ({
      ...opaque,
      id,
      type: "function" as const,
      function: { name, arguments: text },
    })),
  };
}

function usageOf(tokens: ReturnType<typeof tokensOf>) {
  if (!tokens) return {};
  const { input, output, total } = tokens;
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: total } };
}

/** The frames of a streamed completion. A failure is a frame with `error`; only a complete response ends with [DONE]. */
export async function* chatFrames(
  request: ChatRequest,
  head: Head,
  answer: AsyncIterable<Heard>,
): AsyncGenerator<Uint8Array> {
  const countsTokens = request.stream_options?.include_usage === true;
  const chunk = (more: object) =>
    frame({
      id: head.id,
      object: "chat.completion.chunk",
      created: head.madeAt,
      model: head.model,
      ...(countsTokens ? { usage: null } : {}),
      ...more,
    });
  const piece = (delta: object, finish_reason: string | null = null, index = 0) =>
    chunk({ choices: [{ index, delta, finish_reason, logprobs: null }] });

  for (let index = 0; index < (request.n ?? 1); index++)
    yield piece({ role: "assistant", content: "", refusal: null }, null, index);
  let isText = false;
  for await (const each of answer) {
    if (each.type === "quiet") yield COMMENT;
    if (each.type === "failed") yield frame(toOpenAIError(each));
    if (each.type === "text") {
      isText = true;
      yield piece({ content: each.text });
    }
    if (each.type === "succeeded") {
      const { tokens } = each;
      for (const [place, said] of each.said.entries()) {
        const tell = (delta: object, reason: string | null = null) => piece(delta, reason, place);
        if (!isText && said.text) yield tell({ content: said.text });
        if (said.refusal !== null) yield tell({ refusal: said.refusal });
        const brought = { ...broughtOf(said), ...(said.refusal === null ? {} : { refusal: undefined }) };
        if (Object.keys(brought).length > 0) yield tell(brought);
        // OpenAI streams a call's id and name first, then its arguments.
        for (const [index, { function: called, ...call }] of (toolCallsOf(said).tool_calls ?? []).entries()) {
          yield tell({ tool_calls: [{ index, ...call, function: { ...called, arguments: "" } }] });
          yield tell({ tool_calls: [{ index, function: { arguments: called.arguments } }] });
        }
        yield tell({}, said.finish);
      }
      if (countsTokens) yield chunk({ choices: [], usage: usageOf(tokens).usage ?? null });
      yield Buffer.from("data: [DONE]\n\n");
    }
  }
}

const frame = (data: object) => Buffer.from(`data: ${toEventLine(data)}\n\n`);
