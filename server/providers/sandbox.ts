import { z } from "zod";
import { defineProvider, type ModelFacts, ProviderFault, type ProviderIo, type TextCall } from "./define";
import { type Explanation, parseReply, postForEvents, postJson, safeWord } from "./http";

/*
 * The sandbox: our own small vendor (server/sandbox), over real HTTP in a process of its own. Its tokens are UTF-8
 * bytes divided by four, rounded up.
 */

const TextReply = z.object({
  id: z.string(),
  model: z.string(),
  text: z.string(),
  finishReason: z.enum(["stop", "length", "tool_calls"]),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
  usage: z.object({ inputTokens: z.int(), outputTokens: z.int(), reasoningTokens: z.int() }),
  tier: z.enum(["standard", "flex"]),
});
type TextReply = z.output<typeof TextReply>;

/** Its streamed answer: pieces of text, then the same reply as without a stream. */
const TextEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("delta"), text: z.string() }),
  z.object({ type: z.literal("done"), reply: TextReply }),
]);

const ImageReply = z.object({
  id: z.string(),
  model: z.string(),
  images: z.array(z.object({ mediaType: z.string(), base64: z.string() })),
  usage: z.object({ images: z.int() }),
});

const Problem = z.object({ error: z.object({ code: z.string() }) });

const REASONS: Record<string, string> = {
  unsupported_schema: "The sandbox cannot make JSON for this schema.",
  invalid_request: "The sandbox does not understand the request.",
  model_not_found: "The sandbox has no such model.",
  too_large: "The request is too large for the sandbox.",
  refused: "This sandbox model refuses every request.",
  busy: "The sandbox has no capacity right now.",
  tier_unavailable: "This sandbox model does not offer the tier.",
  failed: "This sandbox model fails every request.",
};

function explain({ body }: { body: unknown }): Explanation | undefined {
  const problem = Problem.safeParse(body);
  const message = problem.success ? REASONS[problem.data.error.code] : undefined;
  return message ? { message } : undefined;
}

const MAX_IMAGES_BYTES = 192 * 1024 * 1024;

const headers = (io: ProviderIo) => ({ "x-attempt-id": io.attemptId });

const TOKENS = { input: 150_000, cachedInput: 75_000, output: 600_000 };

/** Behaviours are served by both ports under one name; all but the first two are chosen by name only. */
const MODELS = [
  {
    id: "sandbox-1",
    title: "Sandbox 1",
    text: TOKENS,
    image: 40_000,
    deferred: true,
  },
  {
    id: "sandbox-2",
    title: "Sandbox 2",
    text: { input: 1_000_000, cachedInput: 500_000, output: 4_000_000 },
    image: 20_000,
    deferred: true,
  },
  ...["slow", "refuse", "busy", "lost", "empty", "fail"].map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    text: TOKENS,
    image: 40_000,
    onlyByName: true,
  })),
];

/**
 * Particular about the tier flex: one refuses it, one has no capacity on it twice, one takes it and serves standard. On
 * standard they answer.
 */
const TEXT_MODELS = [
  ...MODELS,
  ...["flexless", "flexbusy", "flexquiet"].map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    text: TOKENS,
    onlyByName: true,
    deferred: true,
  })),
];

/** Particular about images: one fewer than asked, and files that cannot be read. */
const IMAGE_MODELS = [
  ...MODELS,
  ...["partial", "garbled"].map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    image: 40_000,
    onlyByName: true,
  })),
];

const textModels = TEXT_MODELS.map(
  ({ id, title, text, ...more }): ModelFacts => ({
    id,
    title,
    ...("onlyByName" in more ? { onlyByName: true } : {}),
    port: "text",
    price: { per: "million_tokens", ...text, ...("deferred" in more ? { flexDiscountBps: 5_000 } : {}) },
    contextWindow: 128_000,
    maxOutputTokens: 16_384,
    supports: {
      jsonObject: true,
      jsonSchema: true,
      temperature: true,
      reasoning: true,
      tools: true,
      stream: true,
      ...("deferred" in more ? { deferred: true } : {}),
    },
  }),
);

const imageModels = IMAGE_MODELS.map(
  ({ id, title, image, ...more }): ModelFacts => ({
    id,
    title,
    ...("onlyByName" in more ? { onlyByName: true } : {}),
    port: "image",
    price: {
      per: "image",
      sizes: [
        {
          width: 1024,
          height: 1024,
          micros: { low: image / 4, medium: image, high: image * 4, standard: image },
        },
      ],
    },
    supports: { transparency: true, referenceImages: true },
    image: {
      minEdge: 256,
      maxEdge: 3840,
      multipleOf: 16,
      minPixels: 65_536,
      maxPixels: 8_294_400,
      maxAspectRatio: 3,
    },
  }),
);

const toTextRequest = (call: TextCall, io: ProviderIo) => ({
  model: io.model.id,
  ...call,
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
    usage,
    providerRequestId: safeWord(id, io),
    providerModel: safeWord(model, io),
    tier,
    httpStatus,
  };
}

export default defineProvider({
  name: "sandbox",
  title: "Sandbox",
  maturity: "NC17",
  credentials: z.object({}),
  environment: { credentials: {}, baseUrl: "SANDBOX_URL" },
  defaultBaseUrl: null,
  models: [...textModels, ...imageModels],
  text: {
    api: "responses",
    async submit(call, io) {
      const reply = await postJson("/v1/text", toTextRequest(call, io), headers(io), io, { explain });
      return toTextProgress(parseReply(TextReply, reply, io), reply.status, io);
    },
    async stream(call, io, onText) {
      let whole: TextReply | undefined;
      const body = { ...toTextRequest(call, io), stream: true };
      const reply = await postForEvents(
        "/v1/text",
        body,
        headers(io),
        io,
        ({ data }) => {
          const event = TextEvent.parse(JSON.parse(data));
          if (event.type === "delta") onText(event.text);
          else whole = event.reply;
          return whole !== undefined;
        },
        { explain },
      );
      if (!whole) throw new ProviderFault("lost", "ambiguous", "The sandbox's answer has no end.");
      return toTextProgress(whole, reply.status, io);
    },
  },
  image: {
    api: "images",
    async submit(call, io) {
      const referenceImages = call.referenceImages.map(({ bytes, mediaType }) => ({
        mediaType,
        base64: Buffer.from(bytes).toString("base64"),
      }));
      const body = { model: io.model.id, ...call, referenceImages };
      const reply = await postJson("/v1/image", body, headers(io), io, {
        explain,
        maxResponseBytes: MAX_IMAGES_BYTES,
      });
      const { id, model, usage, images } = parseReply(ImageReply, reply, io);
      return {
        state: "done",
        result: {
          images: images.map(({ mediaType, base64 }) => ({
            mediaType,
            bytes: Buffer.from(base64, "base64"),
          })),
        },
        usage,
        providerRequestId: safeWord(id, io),
        providerModel: safeWord(model, io),
        httpStatus: reply.status,
      };
    },
  },
});
