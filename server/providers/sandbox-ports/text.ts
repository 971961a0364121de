import { z } from "zod";
import { isObject } from "@/server/platform/text/json";
import { Count, CountsOf, figures } from "../counts";
import {
  type ModelFacts,
  type PortAdapter,
  ProviderFault,
  type ProviderIo,
  type TextCall,
  type TextMessage,
} from "../define";
import { type HttpReply, parseReply, postForEvents, postJson, safeWord } from "../http";
import { jsonIn } from "../server-events";
import { explainSandboxError, SANDBOX_MODELS, sandboxHeaders } from "./common";

/* Text of the sandbox. Its tokens are UTF-8 bytes divided by four, rounded up. */

const Choice = z.object({
  text: z.string(),
  finishReason: z.enum(["stop", "length", "tool_calls"]),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
});
const TextReply = Choice.extend({
  id: z.string(),
  model: z.string(),
  others: z.array(Choice).optional(),
  usage: CountsOf({ inputTokens: Count, outputTokens: Count, reasoningTokens: Count }),
  tier: z.enum(["standard", "flex"]),
});
type TextReply = z.output<typeof TextReply>;

/** An event of the sandbox's stream: a piece of text, or the same reply as without a stream. */
const TextEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("delta"), text: z.string() }),
  z.object({ type: z.literal("done"), reply: TextReply }),
]);

/** Tokens per picture. */
const IMAGE_TOKENS = 256;

const TOKENS = { input: 150_000, cachedInput: 75_000, output: 600_000 };
const PRICES: Record<string, typeof TOKENS> = {
  "sandbox-2": { input: 1_000_000, cachedInput: 500_000, output: 4_000_000 },
};
const DEFERRED = ["sandbox-1", "sandbox-2", "sandbox-flexless", "sandbox-flexbusy", "sandbox-flexquiet"];

/**
 * Models that misbehave about the flex tier: one refuses it, one has no capacity on it twice, one accepts it and serves
 * standard. They answer on standard.
 */
const FLEX_MODELS = ["flexless", "flexbusy", "flexquiet"];
/**
 * Models without JSON support, which need an instruction: one answers correctly on the second try, one never does, one
 * only reasons.
 */
const WORDY_MODELS = ["malformed", "stubborn", "thinker"];
/** Models that promise JSON by schema, and return an answer that does not fit or is empty. */
const LOOSE_MODELS = ["careless", "hollow"];
/**
 * A model that follows commands in each question: `[slow 300]`, `[busy 3]`, `[lost]` and so on; for bulks, whose items
 * share a model.
 */
const SCRIPTED_MODELS = ["mixed"];

const TEXT_MODELS: typeof SANDBOX_MODELS = [
  ...SANDBOX_MODELS,
  ...[...FLEX_MODELS, ...WORDY_MODELS, ...LOOSE_MODELS, ...SCRIPTED_MODELS].map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    onlyByName: true as const,
  })),
];

export const textModels = TEXT_MODELS.map(
  (model): ModelFacts => ({
    ...model,
    port: "text",
    hiddenOutput: 1,
    price: {
      per: "million_tokens",
      ...(PRICES[model.id] ?? TOKENS),
      ...(DEFERRED.includes(model.id) ? { flexDiscountBps: 5_000 } : {}),
    },
    contextWindow: model.id === "sandbox-1" ? 128_000 : 1_050_000,
    maxOutputTokens: 16_384,
    grades: model.id === "sandbox-1" ? ["fast", "longform"] : ["fast", "reasoning", "frontier", "longform"],
    imageTokens: IMAGE_TOKENS,
    takes: ["topP", "stop", "seed", "frequencyPenalty", "presencePenalty", "choices"],
    supports: {
      jsonObject: !WORDY_MODELS.some((name) => model.id === `sandbox-${name}`),
      jsonSchema: !WORDY_MODELS.some((name) => model.id === `sandbox-${name}`),
      vision: true,
      temperature: true,
      reasoning: true,
      tools: true,
      forcedTools: true,
      stream: true,
      ...(DEFERRED.includes(model.id) ? { deferred: true } : {}),
    },
  }),
);

/** Encodes pictures as base64, and leaves out cache marks and opaque members. */
const toMessage = ({ content, cache: _cache, ...message }: TextMessage) => ({
  ...message,
  opaque: undefined, // The sandbox makes no opaque members.
  content:
    typeof content === "string"
      ? content
      : content.map((part) =>
          part.type === "text"
            ? part
            : {
                type: part.type,
                mediaType: part.mediaType,
                base64: Buffer.from(part.bytes).toString("base64"),
                ...(part.detail === undefined ? {} : { detail: part.detail }),
              },
        ),
});

const toTextRequest = ({ settings, toolCache: _marks, ...call }: TextCall, io: ProviderIo) => ({
  model: io.model.id,
  ...call,
  ...settings,
  messages: call.messages.map(toMessage),
  ...(io.tier === "flex" ? { tier: "flex" } : {}),
});

function toTextProgress(
  { id, model, usage, tier, ...result }: TextReply,
  httpStatus: number,
  io: ProviderIo,
) {
  return {
    state: "done" as const,
    result,
    usage: usage ? figures(usage) : null,
    providerRequestId: safeWord(id, io),
    providerModel: safeWord(model, io),
    tier,
    httpStatus,
  };
}

/** Reads the sandbox's answer, for the text port and for pins. */
export const readSandboxText = (reply: HttpReply, io: ProviderIo) =>
  toTextProgress(parseReply(TextReply, reply, io), reply.status, io);

export const sandboxText: PortAdapter<"text"> = {
  api: "responses",
  async submit(call, io) {
    return readSandboxText(
      await postJson(io, "/v1/text", {
        body: toTextRequest(call, io),
        headers: sandboxHeaders(io),
        explain: explainSandboxError,
      }),
      io,
    );
  },
  async stream(call, io, onText) {
    let whole: TextReply | undefined;
    const body = { ...toTextRequest(call, io), stream: true };
    const reply = await postForEvents(io, "/v1/text", {
      body,
      headers: sandboxHeaders(io),
      onEvent: (each) => {
        const body = jsonIn(each);
        if (!isObject(body) || (body.type !== "delta" && body.type !== "done")) return "more";
        const event = TextEvent.parse(body);
        if (event.type === "delta") onText(event.text);
        else whole = event.reply;
        return whole === undefined ? "more" : "enough";
      },
      explain: explainSandboxError,
    });
    if (!whole) throw new ProviderFault("lost", "ambiguous", "The sandbox's answer is incomplete.");
    return toTextProgress(whole, reply.status, io);
  },
};
