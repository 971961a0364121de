import { z } from "zod";
import { pinChat } from "./chat-ports/pin";
import { chatCompletions, chatHeaders } from "./chat-ports/text";
import {
  type ModelFacts,
  messageText,
  type ProviderAccount,
  refuseCall,
  type TextCall,
  type TextMessage,
} from "./define";
import { bearer, type Explanation, getJson } from "./http";
import { pinResponses } from "./openai-ports/pins";
import { defineProvider } from "./provider";
import { IN_JSON, isForced } from "./text-call";

/* DeepSeek: text through chat completions. It supports JSON objects but no schemas, and reasons by default. */

/** The vendor has three efforts; a level between two of them maps to the higher one, as the vendor does itself. */
const EFFORTS = { economy: "low", balanced: "high", deep: "high", maximum: "max" } as const;

/** Errors are recognized by their status, because their bodies have only a text. */
const STATUSES: Record<number, Explanation> = {
  401: { message: "DeepSeek does not accept the API key." },
  402: { message: "The DeepSeek account has no balance left." },
  422: { message: "DeepSeek does not support one of the parameters." },
  429: { message: "DeepSeek's rate limit is reached." },
  503: { kind: "capacity", message: "DeepSeek is overloaded." },
};
const explain = ({ status }: { status: number }): Explanation | undefined => STATUSES[status];

const TUNED = ["temperature", "top_p", "frequency_penalty", "presence_penalty"];

function adapt(
  { messages, parallel_tool_calls: _, ...sent }: Record<string, unknown>,
  call: TextCall,
): Record<string, unknown> {
  const { reasoningIntent = "omit", responseFormat } = call;
  // DeepSeek requires the reasoning of earlier turns in a tool loop, which not every conversation has. It also rejects
  // a forced tool call while reasoning.
  const isBare = call.messages.some(lacksThinking) || isForced(call);
  const thinks = reasoningIntent !== "omit" && !isBare;
  const tuned = TUNED.find((name) => sent[name] !== undefined);
  if (thinks && tuned)
    refuseCall(`The model does not support ${tuned} while it reasons. Leave one of them out.`);
  // The vendor requires the word JSON in the request; otherwise its model may write blanks up to the limit.
  const asksForJson =
    responseFormat.type !== "json_object" || call.messages.some((each) => /json/i.test(messageText(each)));
  const instruction = asksForJson ? [] : [{ role: "system", content: IN_JSON }];
  return {
    ...sent,
    messages: [...instruction, ...(messages as unknown[])], // the caller built it with messages
    ...(thinks ? { thinking: { type: "enabled" }, reasoning_effort: EFFORTS[reasoningIntent] } : {}),
    // The model reasons by default. That is turned off for the settings in `TUNED`, which it would silently ignore, and
    // for a call that cannot reason (`isBare`).
    ...(!tuned && !isBare ? {} : { thinking: { type: "disabled" } }),
  };
}

/** Does an assistant message call tools, or end a tool loop, without its reasoning? */
const lacksThinking = (message: TextMessage, place: number, messages: TextMessage[]): boolean =>
  message.role === "assistant" &&
  (message.toolCalls !== undefined || messages[place - 1]?.role === "tool") &&
  message.opaque?.reasoning_content === undefined;

async function check(account: ProviderAccount): Promise<void> {
  await getJson(account, "/models", { headers: bearer(account), explain });
}

/*
 * Ids, limits and prices as of October 2026: api-docs.deepseek.com/quick_start/pricing. The prices are those of peak
 * hours; the vendor charges half at other times.
 */
const V4: Pick<
  ModelFacts,
  "port" | "contextWindow" | "maxOutputTokens" | "hiddenOutput" | "supports" | "takes"
> = {
  port: "text",
  takes: ["topP", "stop", "frequencyPenalty", "presencePenalty"],
  contextWindow: 1_000_000,
  maxOutputTokens: 384_000,
  hiddenOutput: 1, // Its reasoning is returned in full, as `reasoning_content` (api-docs.deepseek.com/guides/thinking_mode).
  supports: {
    jsonObject: true,
    temperature: true,
    reasoning: true,
    tools: true,
    forcedTools: true,
    stream: true,
  },
};

export default defineProvider({
  name: "deepseek",
  title: "DeepSeek",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An API key for the DeepSeek platform.") }),
  environment: { credentials: { apiKey: "DEEPSEEK_API_KEY" }, baseUrl: "DEEPSEEK_BASE_URL" },
  defaultBaseUrl: "https://api.deepseek.com",
  models: [
    {
      ...V4,
      id: "deepseek-flash",
      title: "DeepSeek Flash",
      price: { per: "million_tokens", input: 300_000, cachedInput: 6_000, output: 1_200_000 },
      grades: ["fast", "reasoning"],
    },
    {
      ...V4,
      id: "deepseek-v4-pro",
      title: "DeepSeek V4 Pro",
      price: { per: "million_tokens", input: 1_320_000, cachedInput: 44_000, output: 3_960_000 },
      grades: ["reasoning", "longform"],
    },
  ],
  check,
  text: chatCompletions({ explain, adapt }),
  pins: {
    "chat-completions": pinChat({
      explain,
      headers: chatHeaders,
      role: "system",
      sampling: {
        temperature: "temperature",
        topP: "top_p",
        maxOutputTokens: "max_tokens",
        stop: "stop",
        frequencyPenalty: "frequency_penalty",
        presencePenalty: "presence_penalty",
        reasoningEffort: "reasoning_effort",
        thinking: "thinking.type",
      },
    }),
    // The vendor stores no answers of this interface, and has no field to request that.
    responses: pinResponses({
      vendor: "DeepSeek",
      headers: chatHeaders,
      explain,
      sampling: {
        temperature: "temperature",
        topP: "top_p",
        maxOutputTokens: "max_output_tokens",
        reasoningEffort: "reasoning.effort",
      },
    }),
  },
});
