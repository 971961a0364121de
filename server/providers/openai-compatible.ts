import { z } from "zod";
import { exitRefused, Refusal } from "@/server/platform/settings/refusal";
import { pinChat } from "./chat-ports/pin";
import { chatCompletions, chatHeaders } from "./chat-ports/text";
import { isNameListed, type ModelFacts, type ProviderAccount, RATINGS } from "./define";
import { embeddings } from "./embedding";
import { getJson, parseReply } from "./http";
import { EFFORTS, explainCompatibleError } from "./openai-ports/common";
import { defineProvider } from "./provider";

/* Any server that speaks chat completions: vLLM, llama.cpp, Ollama, gateways. The operator lists its models. */

/**
 * Reads models from a setting of the form `id:in:out,…`, with prices in US dollars per million tokens. An embedding
 * model is `id:in:embeddings`; a model that reads pictures is `id:in:out:pictures`, or `id:in:out:pictures=N` with at
 * most N tokens per picture. Ids can contain colons. Of `members`, the request members that the server accepts, only
 * `reasoning_effort` counts here: with it the models support reasoning. Throws with the entry that it cannot read.
 */
export function modelsFromSetting(
  setting: string | undefined,
  members: readonly string[] = USUAL_MEMBERS,
): ModelFacts[] {
  const entries = (setting ?? "").split(",").map((entry) => entry.trim());
  const reasoning = isNameListed("reasoning_effort", members) ? { reasoning: true } : {};
  return entries
    .filter((entry) => entry !== "")
    .map(toModel)
    .map((model) =>
      model.port === "text" ? { ...model, supports: { ...model.supports, ...reasoning } } : model,
    );
}

/** Members that such servers usually accept beyond OpenAI's own, unless the owner lists others. */
export const USUAL_MEMBERS = [
  ...["top_k", "min_p", "repetition_penalty", "guided_*", "chat_template_kwargs", "logit_bias"],
];

function toModel(entry: string): ModelFacts {
  const parts = entry.split(":");
  const pictures = PICTURES.exec(parts.at(-1)?.trim() ?? "");
  if (pictures) parts.pop();
  const last = parts.pop();
  const isEmbedding = last === EMBEDDINGS;
  const output = isEmbedding ? 0 : toMicros(last);
  const input = toMicros(parts.pop());
  const id = parts.join(":");
  if (id === "" || input === null || output === null || (isEmbedding && pictures)) {
    throw new Error(
      `"${entry}" is not of the form id:in:out, id:in:out:pictures, id:in:out:pictures=N or id:in:${EMBEDDINGS}: prices in USD per million tokens, N the most tokens of a picture.`,
    );
  }
  const price = { per: "million_tokens", input, output } as const;
  if (isEmbedding) return { id, port: "embedding", title: id, price, embedding: {}, supports: {} };
  return {
    id,
    port: "text",
    title: id,
    price,
    supports: {
      jsonObject: true,
      jsonSchema: true,
      temperature: true,
      tools: true,
      forcedTools: true,
      stream: true,
      ...(pictures ? { vision: true } : {}),
    },
    ...(pictures ? (pictures[1] ? { imageTokens: Number(pictures[1]) } : USUAL_PICTURE) : {}),
    takes: ["topP", "stop", "seed", "frequencyPenalty", "presencePenalty", "choices"],
    members: USUAL_MEMBERS,
  };
}

/** The part after the prices of a model that reads pictures, with an optional maximum of tokens per picture. */
const PICTURES = /^pictures(?:=([1-9]\d{0,6}))?$/;
/**
 * Upper bound for pictures if the owner states none. The densest models count patches of 16 pixels (Pixtral), and
 * Qwen's models shrink pictures to 16,384 tokens. Models that enlarge small pictures or cut them into tiles stay below
 * 8,192 (Llama 3.2 has four tiles of 1,601 from 560 pixels on: docs.together.ai/docs/vision-overview; LLaVA-OneVision
 * has ten of 729).
 */
const USUAL_PICTURE = { imageTokens: 16_384, imagePatch: { edge: 16, least: 8_192 } };

/** Replaces the output price of a model that makes vectors. */
const EMBEDDINGS = "embeddings";

/** Dollars to micros without floats, which would round money; null if malformed. */
function toMicros(dollars: string | undefined): number | null {
  const match = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(dollars?.trim() ?? "");
  return match ? Number(match[1]) * 1_000_000 + Number((match[2] ?? "").padEnd(6, "0")) : null;
}

function modelsOfOperator(): ModelFacts[] {
  try {
    return modelsFromSetting(process.env.OPENAI_COMPATIBLE_MODELS);
  } catch (cause) {
    return exitRefused(new Refusal(`OPENAI_COMPATIBLE_MODELS: ${(cause as Error).message}`));
  }
}

/** Lists the server's models, the only free request that needs the key. */
async function check(account: ProviderAccount): Promise<void> {
  const reply = await getJson(account, "/models", {
    headers: chatHeaders(account),
    explain: explainCompatibleError,
  });
  parseReply(z.object({ data: z.array(z.unknown()) }), reply, account);
}

export default defineProvider({
  name: "openai-compatible",
  title: "OpenAI-compatible server",
  // Only the operator knows whose server it is and what its owner allows.
  maturity: RATINGS.find((rating) => rating === process.env.OPENAI_COMPATIBLE_MATURITY) ?? "PG13",
  credentials: z.object({
    apiKey: z.string().min(1).optional().describe("Leave out if the server needs none."),
  }),
  environment: {
    credentials: { apiKey: "OPENAI_COMPATIBLE_API_KEY" },
    baseUrl: "OPENAI_COMPATIBLE_BASE_URL",
  },
  defaultBaseUrl: null,
  models: modelsOfOperator(),
  modelsFrom: modelsFromSetting,
  modelsExample: "llama-3:0.2:0.6,nomic-embed-text:0.02:embeddings",
  text: chatCompletions({
    explain: explainCompatibleError,
    adapt: (sent, { reasoningIntent = "omit" }) =>
      reasoningIntent === "omit" ? sent : { ...sent, reasoning_effort: EFFORTS[reasoningIntent] },
  }),
  embedding: embeddings({ explain: explainCompatibleError, headers: chatHeaders }),
  pins: {
    "chat-completions": pinChat({
      explain: explainCompatibleError,
      headers: chatHeaders,
      role: "system",
      sampling: {
        temperature: "temperature",
        topP: "top_p",
        maxOutputTokens: "max_tokens",
        seed: "seed",
        stop: "stop",
        frequencyPenalty: "frequency_penalty",
        presencePenalty: "presence_penalty",
        reasoningEffort: "reasoning_effort",
      },
      unknown: ["reasoning"],
    }),
  },
  check,
});
