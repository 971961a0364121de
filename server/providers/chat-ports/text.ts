import type { Json } from "@/server/platform/durable/step";
import {
  type ModelFacts,
  messageText,
  type PortAdapter,
  type ProviderAccount,
  type ProviderIo,
  type ResponseFormat,
  type TextCall,
  type TextMessage,
  type ToolCall,
  type ToolChoice,
  toDataUrl,
} from "../define";
import { type HttpOptions, postForEvents, postJson } from "../http";
import { opaqueOfCall, opaqueOfMessage } from "../opaque";
import { parseJsonText, passOn, requireSupported, withoutUndefined } from "../text-call";
import { asTaken, type TakenRequest } from "./as-taken";
import { keptParts, readChat, toChatProgress } from "./reply";
import { gatherChat } from "./stream";

/* Text through chat completions, as many vendors and servers implement them. */

/**
 * Sends high detail unless low is requested, because a picture's token bound assumes it; servers without the setting
 * ignore it.
 */
function toMessage(message: TextMessage) {
  const { role, content } = message;
  if (message.role === "tool") return { role, tool_call_id: message.toolCallId, content };
  if (message.role === "assistant" && (message.toolCalls || message.opaque)) return toAnswer(message);
  const name = "name" in message && message.name !== undefined ? { name: message.name } : {};
  if (typeof content === "string") return { role, content, ...name };
  return {
    role,
    content: content.map((part) =>
      part.type === "text"
        ? { type: "text", text: part.text }
        : { type: "image_url", image_url: { url: toDataUrl(part), detail: part.detail ?? "high" } },
    ),
    ...name,
  };
}

/** An earlier answer of the model, with the members that its server wants back. */
function toAnswer(message: Extract<TextMessage, { role: "assistant" }>) {
  const text = messageText(message);
  const { content_parts: parts, ...members } = message.opaque ?? {};
  const isRefusal = members.refusal !== undefined && members.refusal === text;
  return {
    ...opaqueOfMessage(members),
    role: message.role,
    content: keptParts(parts, text) ?? (isRefusal || (text === "" && message.toolCalls) ? null : text),
    ...(message.toolCalls ? { tool_calls: message.toolCalls.map(toToolCall) } : {}),
  };
}

/**
 * Replaces arguments that are not JSON: a server that parses them would fail now and in every later turn
 * (ggml-org/llama.cpp#11992).
 */
const toToolCall = ({ id, name, arguments: text, opaque = {} }: ToolCall) => ({
  ...opaqueOfCall(opaque),
  id,
  type: "function",
  function: { name, arguments: parseJsonText(text) === undefined ? "{}" : text },
});

function toChatRequest(call: TextCall, model: ModelFacts): Record<string, unknown> {
  requireSupported(call, model);
  const { members, topP, stop, seed, frequencyPenalty, presencePenalty, choices } = call.settings ?? {};
  return {
    ...members,
    model: model.id,
    messages: call.messages.map(toMessage),
    // Renamed later if the server accepts only the newer name.
    ...(call.maxOutputTokens === undefined ? {} : { max_tokens: call.maxOutputTokens }),
    ...(call.responseFormat.type === "text" ? {} : { response_format: toFormat(call.responseFormat) }),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...withoutUndefined({ top_p: topP, stop, seed, n: choices }),
    ...withoutUndefined({ frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty }),
    ...(call.tools === undefined ? {} : { tools: call.tools.map(toFunctionTool) }),
    ...(call.toolChoice === undefined ? {} : { tool_choice: toChoice(call.toolChoice) }),
    ...(call.parallelToolCalls === undefined ? {} : { parallel_tool_calls: call.parallelToolCalls }),
    stream: false,
  };
}

const toChoice = (choice: ToolChoice) =>
  typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };

/** Chat completions nest what the Responses API keeps flat; both forms are accepted. */
function toFunctionTool(tool: Record<string, Json>): Record<string, Json> {
  if (tool.function !== undefined) return tool;
  const { type: _type, ...inner } = tool;
  return { type: "function", function: inner };
}

function toFormat(format: Exclude<ResponseFormat, { type: "text" }>): object {
  if (format.type === "json_object") return { type: "json_object" };
  const { name, strict, schema } = format;
  return { type: "json_schema", json_schema: { name, ...withoutUndefined({ strict }), schema } };
}

export const chatHeaders = ({
  credentials: { apiKey },
}: Pick<ProviderAccount, "credentials">): Record<string, string> =>
  apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {};

/** The differences between vendors: the explanation of errors, and changes to the request. */
type Dialect = {
  explain: NonNullable<HttpOptions["explain"]>;
  /** Makes the vendor's last changes to a request, streamed or not: other names, fields it refuses, fields it needs. */
  adapt?(sent: Record<string, unknown>, call: TextCall): Record<string, unknown>;
};

/** The text port of a vendor with chat completions. */
export function chatCompletions({ explain, adapt = (sent) => sent }: Dialect): PortAdapter<"text"> {
  const toRequest = (call: TextCall, io: ProviderIo, more: Record<string, unknown> = {}) =>
    adapt({ ...toChatRequest(call, io.model), ...more }, call);
  const posted = (io: ProviderIo, sent: TakenRequest, { take }: ReturnType<typeof gatherChat>) => ({
    ...sent,
    headers: chatHeaders(io),
    onEvent: take,
  });
  return {
    api: "chat-completions",
    async submit(call, io) {
      return asTaken(io, { request: toRequest(call, io), explain }, async (sent) => {
        const gathered = gatherChat();
        const reply = await postJson(io, "/chat/completions", posted(io, sent, gathered));
        if (reply.body === undefined) return toChatProgress(gathered.whole(), reply, io);
        return readChat(reply, io, sent.explain);
      });
    },
    async stream(call, io, onText) {
      const request = toRequest(call, io, { stream: true, stream_options: { include_usage: true } });
      return asTaken(io, { request, explain }, async (sent) => {
        const gathered = gatherChat(onText);
        const reply = await postForEvents(io, "/chat/completions", posted(io, sent, gathered));
        if (reply.body === undefined) return toChatProgress(gathered.whole(), reply, io);
        // A server without streaming answers in one piece.
        const progress = readChat(reply, io, sent.explain);
        passOn(progress.result, onText);
        return progress;
      });
    },
  };
}
