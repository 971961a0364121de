import { z } from "zod";
import { pinChat } from "./chat-ports/pin";
import { chatCompletions, headersOf } from "./chat-ports/text";
import {
  type ModelFacts,
  type ProviderAccount,
  refuseCall,
  type TextCall,
  type TextMessage,
  textOf,
} from "./define";
import { bearer, type Explanation, getJson } from "./http";
import { pinResponses } from "./openai-ports/pins";
import { defineProvider } from "./provider";
import { IN_JSON, isForced } from "./text-call";

/* DeepSeek: text by chat completions. It knows JSON objects and no schemas, and thinks by default. */

/** The vendor knows three efforts; what lies between two is the higher one, as it counts itself. */
const EFFORTS = { economy: "low", balanced: "high", deep: "high", maximum: "max" } as const;

/** Errors are recognized by their status; their bodies have words alone. */
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
  // A loop of tools that was begun thinking wants that thinking back, which not every conversation brings; nor is a call forced while thinking.
  const isBare = call.messages.some(lacksThinking) || isForced(call);
  const thinks = reasoningIntent !== "omit" && !isBare;
  const tuned = TUNED.find((name) => sent[name] !== undefined);
  if (thinks && tuned)
    refuseCall(`The model does not support ${tuned} while it reasons. Leave one of them out.`);
  // The vendor wants the word in the request, or its model may write blanks until the limit.
  const asksForJson =
    responseFormat.type !== "json_object" || call.messages.some((each) => /json/i.test(textOf(each)));
  const instruction = asksForJson ? [] : [{ role: "system", content: IN_JSON }];
  return {
    ...sent,
    messages: [...instruction, ...(messages as unknown[])], // what the request to adapt was made with
    ...(thinks ? { thinking: { type: "enabled" }, reasoning_effort: EFFORTS[reasoningIntent] } : {}),
    // While it thinks, these are silently passed over.
    ...(!tuned && !isBare ? {} : { thinking: { type: "disabled" } }),
  };
}

/** Does a message call tools, or end a loop of them, without the thinking before it? */
const lacksThinking = (message: TextMessage, place: number, messages: TextMessage[]): boolean =>
  message.role === "assistant" &&
  (message.toolCalls !== undefined || messages[place - 1]?.role === "tool") &&
  message.opaque?.reasoning_content === undefined;

async function check(account: ProviderAccount): Promise<void> {
  await getJson(account, "/models", { headers: bearer(account), explain });
}

/*
 * Identifiers, limits and prices as of October 2026: api-docs.deepseek.com/quick_start/pricing. The prices are those of the
 * peak hours; at all other times the vendor charges half.
 */
const V4: Pick<
  ModelFacts,
  "port" | "contextWindow" | "maxOutputTokens" | "hiddenOutput" | "supports" | "takes"
> = {
  port: "text",
  takes: ["topP", "stop", "frequencyPenalty", "presencePenalty"],
  contextWindow: 1_000_000,
  maxOutputTokens: 384_000,
  hiddenOutput: 1, // Its thinking comes whole, as `reasoning_content` (api-docs.deepseek.com/guides/thinking_mode).
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
      headers: headersOf,
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
    // The vendor keeps nothing of what it answers there, and has no member to say so.
    responses: pinResponses({
      vendor: "DeepSeek",
      headers: headersOf,
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
