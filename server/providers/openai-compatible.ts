import { z } from "zod";
import type { Json } from "@/server/step";
import {
  defineProvider,
  type ModelFacts,
  type PortAdapter,
  type ProviderAccount,
  ProviderFault,
  type ProviderIo,
  RATINGS,
  type ResponseFormat,
  type TextCall,
  type TextMessage,
  type TextResult,
  toDataUrl,
} from "./define";
import {
  getJson,
  type HttpOptions,
  type HttpReply,
  parseReply,
  postForEvents,
  postJson,
  safeWord,
} from "./http";
import { explainOpenAiError } from "./openai-ports/common";
import { brokenOff, requireSupported } from "./text-call";

/* Any server that speaks chat completions: vLLM, llama.cpp, Ollama, gateways. Its models are what the operator lists. */

const Count = z.number().nullish();

const ChatReply = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({
                id: z.string().nullish(),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: Count,
      prompt_tokens_details: z.object({ cached_tokens: Count }).nullish(),
      completion_tokens: Count,
      completion_tokens_details: z.object({ reasoning_tokens: Count }).nullish(),
      /** Where DeepSeek says what came from its cache. */
      prompt_cache_hit_tokens: Count,
      /** In US dollars; gateways name it. What is no amount is none, and spoils no answer. */
      cost: z.number().nonnegative().nullish().catch(null),
    })
    .nullish(),
});
type ChatReply = z.output<typeof ChatReply>;

/** High detail is what the bound of a picture's tokens is for; servers that know no detail pass it over. */
function toMessage({ role, content }: TextMessage) {
  if (typeof content === "string") return { role, content };
  return {
    role,
    content: content.map((part) =>
      part.type === "text"
        ? { type: "text", text: part.text }
        : { type: "image_url", image_url: { url: toDataUrl(part), detail: "high" } },
    ),
  };
}

function toChatRequest(call: TextCall, model: ModelFacts): Record<string, unknown> {
  requireSupported(call, model);
  return {
    model: model.id,
    messages: call.messages.map(toMessage),
    // The older name: every such server knows it.
    ...(call.maxOutputTokens === undefined ? {} : { max_tokens: call.maxOutputTokens }),
    ...(call.responseFormat.type === "text" ? {} : { response_format: toFormat(call.responseFormat) }),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...(call.tools === undefined ? {} : { tools: call.tools.map(toFunctionTool) }),
    stream: false,
  };
}

/** Chat completions nest what the Responses API keeps flat; both spellings are taken. */
function toFunctionTool(tool: Record<string, Json>): Record<string, Json> {
  if (tool.function !== undefined) return tool;
  const { type: _type, ...inner } = tool;
  return { type: "function", function: inner };
}

function toFormat(format: Exclude<ResponseFormat, { type: "text" }>): object {
  if (format.type === "json_object") return { type: "json_object" };
  return { type: "json_schema", json_schema: { name: format.name, schema: format.schema } };
}

const FINISH_REASONS: Record<string, TextResult["finishReason"]> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

function toTextResult(reply: ChatReply): TextResult {
  const choice = reply.choices[0];
  const toolCalls = (choice?.message.tool_calls ?? []).map((call) => ({
    id: call.id ?? "",
    name: call.function.name,
    arguments: call.function.arguments,
  }));
  return {
    text: choice?.message.content || choice?.message.refusal || "",
    // Some servers leave the reason out of a whole answer.
    finishReason: FINISH_REASONS[choice?.finish_reason ?? "stop"] ?? "other",
    toolCalls,
  };
}

function toUsage(usage: ChatReply["usage"]) {
  if (!usage) return null;
  const figures = {
    inputTokens: usage.prompt_tokens,
    cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens,
    outputTokens: usage.completion_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
    // The wire has a float: from here on it is whole micros.
    reportedCostMicros: typeof usage.cost === "number" ? Math.round(usage.cost * 1_000_000) : null,
  };
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => typeof value === "number"));
}

const headersOf = ({
  credentials: { apiKey },
}: Pick<ProviderAccount, "credentials">): Record<string, string> =>
  apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {};

const ChatChunk = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.int().nullish(),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
  usage: ChatReply.shape.usage,
});

/** The whole answer, gathered from its chunks, in the form it has without a stream. */
function gatherChat(onText: (text: string) => void) {
  let [id, model, finishReason]: (string | null)[] = [null, null, null];
  let [content, refusal] = ["", ""];
  let usage: ChatReply["usage"] = null;
  let isWhole = false;
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  return {
    /** Takes one event; true when it was the last. */
    take(data: string): boolean {
      if (data.trim() === "[DONE]") {
        isWhole = true;
        return true;
      }
      const chunk = ChatChunk.parse(JSON.parse(data));
      if (chunk.error)
        throw new ProviderFault("failed", "attempted", "The provider failed while working on the request.");
      id ??= chunk.id ?? null;
      model ??= chunk.model ?? null;
      usage = chunk.usage ?? usage;
      const choice = chunk.choices?.[0];
      const delta = choice?.delta;
      if (delta?.content) {
        content += delta.content;
        onText(delta.content);
      }
      refusal += delta?.refusal ?? "";
      for (const [place, part] of (delta?.tool_calls ?? []).entries()) {
        const at = part.index ?? place;
        const known = calls.get(at) ?? { id: "", name: "", arguments: "" };
        calls.set(at, {
          id: known.id || (part.id ?? ""),
          name: known.name + (part.function?.name ?? ""),
          arguments: known.arguments + (part.function?.arguments ?? ""),
        });
      }
      if (choice?.finish_reason) {
        finishReason = choice.finish_reason;
        isWhole = true; // usage may follow in a chunk of its own
      }
      return false;
    },
    /** Null: it broke off. */
    whole(): ChatReply | null {
      if (!isWhole) return null;
      if (content === "" && refusal !== "") onText(refusal);
      const tool_calls = [...calls.values()].map((call) => ({
        id: call.id,
        function: { name: call.name, arguments: call.arguments },
      }));
      return {
        id,
        model,
        usage,
        choices: [{ finish_reason: finishReason, message: { content, refusal, tool_calls } }],
      };
    },
  };
}

/** What a vendor does its own way: the words for its errors, and what it wants of a request beyond the usual. */
type Dialect = {
  explain: NonNullable<HttpOptions["explain"]>;
  adapt?(sent: Record<string, unknown>, call: TextCall): Record<string, unknown>;
};

/** The text port of a vendor that speaks chat completions. */
export function chatCompletions({ explain, adapt = (sent) => sent }: Dialect): PortAdapter<"text"> {
  const toRequest = (call: TextCall, io: ProviderIo) => adapt(toChatRequest(call, io.model), call);
  return {
    api: "chat-completions",
    async submit(call, io) {
      const reply = await postJson("/chat/completions", toRequest(call, io), headersOf(io), io, { explain });
      return toProgress(reply, io);
    },
    async stream(call, io, onText) {
      const sent = { ...toRequest(call, io), stream: true, stream_options: { include_usage: true } };
      const gathered = gatherChat(onText);
      const take = ({ data }: { data: string }) => gathered.take(data);
      const reply = await postForEvents("/chat/completions", sent, headersOf(io), io, take, { explain });
      if (reply.body !== undefined) {
        // A server that knows no streams answers whole.
        const progress = toProgress(reply, io);
        if (progress.result.text !== "") onText(progress.result.text);
        return progress;
      }
      const whole = gathered.whole();
      if (!whole) throw brokenOff("The provider");
      return toProgress({ ...reply, body: whole }, io);
    },
  };
}

function toProgress(reply: HttpReply, io: ProviderIo) {
  const answer = parseReply(ChatReply, reply, io);
  return {
    state: "done" as const,
    result: toTextResult(answer),
    usage: toUsage(answer.usage),
    providerRequestId: safeWord(reply.header("x-request-id"), io) ?? safeWord(answer.id, io),
    providerModel: safeWord(answer.model, io),
    httpStatus: reply.status,
  };
}

/**
 * Models from a setting of the form `id:in:out,…`, prices in US dollars per million tokens. Ids may hold colons.
 * Throws with the entry it could not read.
 */
export function modelsFromSetting(setting: string | undefined): ModelFacts[] {
  const entries = (setting ?? "").split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").map(toModel);
}

function toModel(entry: string): ModelFacts {
  const parts = entry.split(":");
  const output = toMicros(parts.pop());
  const input = toMicros(parts.pop());
  const id = parts.join(":");
  if (id === "" || input === null || output === null) {
    throw new Error(`"${entry}" is not of the form id:in:out, prices in USD per million tokens.`);
  }
  return {
    id,
    port: "text",
    title: id,
    price: { per: "million_tokens", input, output },
    supports: { jsonObject: true, jsonSchema: true, temperature: true, tools: true, stream: true },
  };
}

/** Dollars to micros, digit by digit: money is never a float. */
function toMicros(dollars: string | undefined): number | null {
  const match = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(dollars?.trim() ?? "");
  return match ? Number(match[1]) * 1_000_000 + Number((match[2] ?? "").padEnd(6, "0")) : null;
}

function modelsOfOperator(): ModelFacts[] {
  try {
    return modelsFromSetting(process.env.OPENAI_COMPATIBLE_MODELS);
  } catch (cause) {
    throw new Error(`OPENAI_COMPATIBLE_MODELS: ${(cause as Error).message}`, { cause });
  }
}

/** Lists the server's models: the one request such servers have that needs the key and costs nothing. */
async function check(account: ProviderAccount): Promise<void> {
  const reply = await getJson("/models", headersOf(account), account, { explain: explainOpenAiError });
  parseReply(z.object({ data: z.array(z.unknown()) }), reply, account);
}

export default defineProvider({
  name: "openai-compatible",
  title: "OpenAI-compatible server",
  // Whose server it is, and what its owner allows, only the operator knows.
  maturity: RATINGS.find((rating) => rating === process.env.OPENAI_COMPATIBLE_MATURITY) ?? "PG13",
  credentials: z.object({
    apiKey: z.string().min(1).optional().describe("Leave out where the server needs none."),
  }),
  environment: {
    credentials: { apiKey: "OPENAI_COMPATIBLE_API_KEY" },
    baseUrl: "OPENAI_COMPATIBLE_BASE_URL",
  },
  defaultBaseUrl: null,
  models: modelsOfOperator(),
  modelsFrom: modelsFromSetting,
  text: chatCompletions({ explain: explainOpenAiError }),
  check,
});
