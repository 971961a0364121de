import { COMMENT, toEventLine } from "@/server/api/answers/event-stream";
import type { InvocationResult } from "@/server/contract/jobs";
import {
  type GivenItem,
  type OutputItem,
  type ResponseObject,
  ResponsesRequest,
} from "@/server/contract/openai-responses";
import { type ReturnedMembers, withReturnedMembers } from "@/server/domain/quotes";
import { type ConversationRequest, joinedLines, type RequestMessage, type Spelling } from "./ask";
import { readReasoning, toReasoning } from "./reasoning";
import {
  type Head,
  type Heard,
  responseHead,
  type Said,
  saidIn,
  tokensOf,
  ulidOf,
  withReceipt,
} from "./result";
import { conversationSettings } from "./settings";
import type { RequestedToolChoice } from "./tools";

/* POST /v1/responses: converts its request to an ask, and an execution to its response. */

/** Instructions become one more message before the conversation. */
const spelling = ({ instructions, input }: ResponsesRequest, places: number[]): Spelling => ({
  message(place) {
    const at = instructions ? place - 1 : place;
    if (at < 0) return "instructions";
    return typeof input === "string" ? "input" : `input[${places[at] ?? 0}]`;
  },
  maxOutputTokens: "max_output_tokens",
  effort: "reasoning.effort",
  format: "text.format",
  schema: "text.format.schema",
});

/** The request as an ask; `input` is the request's own with every referenced item filled in. */
export function responsesAsk(request: ResponsesRequest, input: string | GivenItem[]): ConversationRequest {
  const { instructions, text, tools } = request;
  const { messages, places } =
    typeof input === "string"
      ? { messages: [{ role: "user" as const, content: input }], places: [0] }
      : toMessages(input);
  return {
    model: request.model,
    messages: [...(instructions ? [{ role: "system" as const, content: instructions }] : []), ...messages],
    maxOutputTokens: request.max_output_tokens,
    effort: request.reasoning?.effort,
    format: text?.format?.type === "json_schema" ? { type: "json_schema", named: text.format } : text?.format,
    tools: {
      tools: tools?.map((tool) =>
        Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== null && value !== undefined)),
      ),
      choice: toChoice(request.tool_choice),
      parallel: request.parallel_tool_calls,
    },
    settings: conversationSettings({ top_p: request.top_p }, request, ResponsesRequest.shape),
    common: request,
    spelling: spelling(request, places),
  };
}

function toChoice(choice: ResponsesRequest["tool_choice"]): RequestedToolChoice | null | undefined {
  if (typeof choice !== "object" || choice === null) return choice;
  if (choice.type === "function") return { name: choice.name };
  return { mode: choice.mode, names: choice.tools.map(({ name }) => name) };
}

/**
 * Items as messages, and the position of each message's first item. A call joins the assistant message directly before
 * it, or becomes one itself. Opaque members join the assistant message directly before them, or else the next message
 * if it is the assistant's.
 */
function toMessages(items: GivenItem[]): { messages: RequestMessage[]; places: number[] } {
  const messages: RequestMessage[] = [];
  const places: number[] = [];
  let waiting: ReturnedMembers | undefined;
  const add = (message: RequestMessage, place: number) => {
    const brought = message.role === "assistant" ? waiting : undefined;
    waiting = undefined;
    messages.push(brought ? { ...message, brought } : message);
    places.push(place);
  };
  for (const [place, item] of items.entries()) {
    const last = messages.at(-1);
    if (item.type === "reasoning") {
      const brought = readReasoning(item);
      if (brought && last?.role === "assistant" && !last.brought) last.brought = brought;
      else waiting = brought ?? waiting;
    } else if (item.type === "function_call") {
      const call = withReturnedMembers(
        { id: item.call_id, name: item.name, arguments: item.arguments },
        item,
      );
      if (last?.role === "assistant" && !waiting) {
        last.toolCalls ??= [];
        last.toolCalls.push(call);
      } else add({ role: "assistant", content: "", toolCalls: [call] }, place);
    } else add(toMessage(item), place);
  }
  return { messages, places };
}

function toMessage(item: Exclude<GivenItem, { type: "reasoning" | "function_call" }>): RequestMessage {
  if (item.type === "function_call_output") {
    const { call_id: toolCallId, output, cache_control: cache } = item;
    return {
      role: "tool",
      toolCallId,
      cache,
      ...(typeof output === "string" ? { content: output } : joinedLines(output)),
    };
  }
  const { role, content, cache_control: cache } = item;
  if (typeof content === "string") return { role, content, cache };
  return {
    role,
    cache,
    content: content.map((part) => {
      if (part.type === "refusal") return { type: "text", text: part.refusal };
      const { cache_control } = part;
      return part.type === "input_image"
        ? { type: "image", url: part.image_url, detail: part.detail, cache_control }
        : { type: "text", text: part.text, cache_control };
    }),
  };
}

/** An unfinished response: the request's settings, without output. */
function begun(request: ResponsesRequest, head: Head): ResponseObject {
  return {
    id: head.id,
    object: "response",
    created_at: head.madeAt,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: withReceipt(request.metadata, head),
    model: head.model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    store: false,
    temperature: request.temperature ?? null,
    text: { format: request.text?.format ?? { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: (request.tools ?? []).map(({ cache_control: _mark, ...tool }) => tool),
    top_p: request.top_p ?? 1,
    truncation: "disabled",
    usage: null,
  };
}

/** A succeeded execution as a response. */
export function toResponse(request: ResponsesRequest, result: InvocationResult): ResponseObject {
  const head = responseHead(result);
  const [said] = saidIn(result, head);
  const items = outputItems(head, said, wantsReasoning(request));
  return ended(begun(request, head), said, items, tokensOf(result.usage));
}

function ended(
  response: ResponseObject,
  { finish }: Said,
  output: OutputItem[],
  tokens: ReturnType<typeof tokensOf>,
): ResponseObject {
  const usage = tokens && {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    total_tokens: tokens.total,
  };
  if (finish !== "length") return { ...response, status: "completed", output, usage };
  const incomplete_details = { reason: "max_output_tokens" as const };
  return { ...response, status: "incomplete", incomplete_details, output, usage };
}

const messageOf = (head: Pick<Head, "id">, text: string, { finish, refusal }: Said): OutputItem => ({
  type: "message",
  id: `msg_${ulidOf(head)}`,
  status: finish === "length" ? "incomplete" : "completed",
  role: "assistant",
  content: [
    refusal === null
      ? { type: "output_text", text, annotations: [], logprobs: [] }
      : { type: "refusal", refusal },
  ],
});

/** True if the request asks for the opaque members as reasoning items. */
const wantsReasoning = ({ include }: ResponsesRequest): boolean => (include ?? []).length > 0;

/** The output items; their ids are derived from the execution's id. */
export function outputItems(head: Pick<Head, "id">, said: Said, withReasoning: boolean): OutputItem[] {
  const { text, toolCalls } = said;
  const calls = toolCalls.map(
    (call, place): OutputItem => ({
      ...call.opaque,
      type: "function_call",
      id: `fc_${ulidOf(head)}_${place}`,
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: "completed",
    }),
  );
  const isMessage = text !== null || said.refusal !== null;
  // Reasoning comes after the message, so that the message keeps its index, and before the calls, with which clients send it
  // back.
  const reasoning = withReasoning ? toReasoning(`rs_${ulidOf(head)}`, said) : null;
  return [
    ...(isMessage ? [messageOf(head, text ?? "", said)] : []),
    ...(reasoning ? [reasoning] : []),
    ...calls,
  ];
}

/** The events of a streamed response, numbered from 0. It ends with response.completed, .incomplete or .failed. */
export async function* responseFrames(
  request: ResponsesRequest,
  head: Head,
  answer: AsyncIterable<Heard>,
): AsyncGenerator<Uint8Array> {
  let next = 0;
  const event = (type: string, data: object) =>
    Buffer.from(`event: ${type}\ndata: ${toEventLine({ type, sequence_number: next++, ...data })}\n\n`);
  const response = begun(request, head);
  const item_id = `msg_${ulidOf(head)}`;
  const ofMessage = { item_id, output_index: 0, content_index: 0 };
  let text = "";
  let isOpen = false;
  const say = (delta: string) => {
    const opening = isOpen ? [] : openMessage();
    isOpen = true;
    text += delta;
    return [...opening, event("response.output_text.delta", { ...ofMessage, delta, logprobs: [] })];
  };
  const openMessage = (part: object = { type: "output_text", text: "", annotations: [], logprobs: [] }) => [
    event("response.output_item.added", {
      output_index: 0,
      item: { type: "message", id: item_id, status: "in_progress", role: "assistant", content: [] },
    }),
    event("response.content_part.added", { ...ofMessage, part }),
  ];
  const refuse = (refusal: string) => [
    ...openMessage({ type: "refusal", refusal: "" }),
    event("response.refusal.delta", { ...ofMessage, delta: refusal }),
    event("response.refusal.done", { ...ofMessage, refusal }),
  ];
  function* done(item: OutputItem, output_index: number) {
    if (item.type === "message") {
      if (item.content[0]?.type === "output_text")
        yield event("response.output_text.done", { ...ofMessage, text, logprobs: [] });
      yield event("response.content_part.done", { ...ofMessage, part: item.content[0] });
    } else if (item.type === "reasoning") yield event("response.output_item.added", { output_index, item });
    else {
      const { id, arguments: given } = item;
      const open = { ...item, arguments: "", status: "in_progress" };
      yield event("response.output_item.added", { output_index, item: open });
      const at = { item_id: id, output_index };
      yield event("response.function_call_arguments.delta", { ...at, delta: given });
      yield event("response.function_call_arguments.done", { ...at, name: item.name, arguments: given });
    }
    yield event("response.output_item.done", { output_index, item });
  }

  yield event("response.created", { response });
  yield event("response.in_progress", { response });
  for await (const each of answer) {
    if (each.type === "quiet") yield COMMENT;
    if (each.type === "text") yield* say(each.text);
    if (each.type === "failed") {
      const { code, message } = each;
      yield event("response.failed", {
        response: { ...response, status: "failed", error: { code, message } },
      });
    }
    if (each.type === "succeeded") {
      const { tokens } = each;
      const [said] = each.said;
      if (!isOpen && said.text !== null) yield* say(said.text);
      if (said.refusal !== null) yield* refuse(said.refusal);
      const items = outputItems(head, said, wantsReasoning(request));
      for (const [place, item] of items.entries()) yield* done(item, place);
      const whole = ended(response, said, items, tokens);
      yield event(`response.${whole.status}`, { response: whole });
    }
  }
}
