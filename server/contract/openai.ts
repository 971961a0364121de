import { z } from "zod";
import { JsonObject, PathId } from "./common";

/*
 * Fields that chat completions and Responses share. Fields without a meaning here are accepted and ignored. An unknown
 * field is passed to a server whose connection lists it; otherwise it is refused by name, because ignoring it would
 * change the sender's result.
 */

/** A field that accepts only this value or null. */
export const only = <const V extends string | number | boolean>(value: V) =>
  z.literal(value, { error: `Only ${JSON.stringify(value)} is supported.` }).nullish();

/** Fields that do not affect the answer; they are ignored. */
export const harmless = {
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.string().nullish(),
  /** The project's settings decide about storage and its duration. */
  store: z.boolean().nullish(),
};

export const ModelName = z
  .string()
  .min(1)
  .max(190)
  .describe(
    "A capability key, `capability@model` or `model`. A model is `provider/model`, or the vendor's own name if exactly one connected account has it.",
  );

export const shared = {
  model: ModelName,
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  service_tier: z.enum(["auto", "default"], { error: "Only auto and default are supported." }).nullish(),
  ...harmless,
};

export const Effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]);
export type Effort = z.output<typeof Effort>;

/** Anthropic's mark on a part that the vendor should cache, in the form that clients of many gateways send. */
export const CacheControl = {
  type: z.literal("ephemeral", { error: "Only ephemeral is supported." }),
  ttl: z.enum(["5m", "1h"], { error: "This must be 5m or 1h." }).nullish(),
};
const CacheMark = z
  .strictObject(CacheControl)
  .nullable()
  .meta({
    id: "CacheControl",
    description:
      "Caches the prompt up to here, on models with a price for cache writes. Others are not sent it.",
  })
  .optional();
export type CacheMark = z.output<typeof CacheMark>;
/** The cache mark of parts, messages and tools. */
export const cached = { cache_control: CacheMark };

/**
 * A schema that the answer must match. `strict` is passed to providers that support it; the answer is checked in any
 * case.
 */
export const NamedSchema = {
  name: z.string().min(1).max(64),
  description: z.string().nullish(),
  schema: JsonObject,
  strict: z.boolean().nullish(),
};
export const FunctionTool = {
  name: z.string().min(1).max(128),
  description: z.string().nullish(),
  parameters: JsonObject.nullish(),
  strict: z.boolean().nullish(),
};

/** `auto` is treated as `high`, which the price bound assumes. */
export const PictureDetail = z
  .enum(["auto", "low", "high"], { error: "This must be auto, low or high." })
  .nullish();
/** The author's name. Only servers that speak chat completions have a field for it. */
const SpeakerName = z.string().min(1).max(256).nullish();

const Part = z.strictObject({ type: z.literal("text"), text: z.string(), ...cached });
const Picture = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string(), detail: PictureDetail }),
  ...cached,
});
const words = z.union([z.string(), z.array(Part).min(1)]);

/** Lets the model decide about tool calls, forbids them or requires one. */
export const ChoiceMode = z.enum(["auto", "none", "required"], {
  error: "This must be auto, none, required, a function or allowed_tools.",
});
export const AllowedMode = z.enum(["auto", "required"]);
const Named = z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) });
const ChatToolChoice = z.union([
  ChoiceMode,
  Named,
  z.strictObject({
    type: z.literal("allowed_tools"),
    allowed_tools: z.strictObject({ mode: AllowedMode, tools: z.array(Named).min(1) }),
  }),
]);

/*
 * Clients send answers back with more members than this service interprets. Unknown members of assistant messages and
 * their tool calls are opaque: they are returned to the server that made them if an id names it, and otherwise ignored.
 */

const Spoken = z.object({ type: z.literal("text"), text: z.string(), ...cached });
const Refused = z.object({ type: z.literal("refusal"), refusal: z.string() });
const ChatToolCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal("function", { error: "Only function tools are supported." }).default("function"),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});
export type ChatToolCall = z.output<typeof ChatToolCall>;

const NO_ROLE = "The role must be system, developer, user, assistant or tool.";

export const ChatMessage = z.discriminatedUnion(
  "role",
  [
    z.strictObject({ role: z.enum(["system", "developer"]), content: words, name: SpeakerName, ...cached }),
    z.strictObject({
      role: z.literal("user"),
      content: z.union([z.string(), z.array(z.discriminatedUnion("type", [Part, Picture])).min(1)]),
      name: SpeakerName,
      ...cached,
    }),
    z
      .looseObject({
        role: z.literal("assistant"),
        content: z
          .union([z.string(), z.array(z.discriminatedUnion("type", [Spoken, Refused]))])
          .nullish()
          .describe("Null if the model only called tools."),
        refusal: z.string().nullish(),
        ...cached,
        tool_calls: z.array(ChatToolCall).nullish(),
        function_call: z.null({ error: "Send calls as tool_calls." }).optional(),
      })
      .refine(
        ({ content, refusal, tool_calls }) => content != null || refusal != null || tool_calls?.length,
        {
          path: ["content"],
          message: "An assistant message needs content or tool_calls.",
        },
      ),
    z.object({
      role: z.literal("tool"),
      tool_call_id: z.string().min(1),
      content: z.union([z.string(), z.array(Spoken)]),
      ...cached,
    }),
  ],
  { error: (issue) => (issue.code === "invalid_union" ? NO_ROLE : undefined) },
);
export type ChatMessage = z.output<typeof ChatMessage>;

export const ChatRequest = z
  .looseObject({
    ...shared,
    messages: z.array(ChatMessage).min(1),
    max_completion_tokens: z.int().min(1).nullish(),
    max_tokens: z.int().min(1).nullish(),
    reasoning_effort: Effort.nullish(),
    response_format: z
      .discriminatedUnion("type", [
        z.strictObject({ type: z.literal("text") }),
        z.strictObject({ type: z.literal("json_object") }),
        z.strictObject({ type: z.literal("json_schema"), json_schema: z.strictObject(NamedSchema) }),
      ])
      .nullish(),
    tools: z
      .array(
        z.strictObject({ type: z.literal("function"), function: z.strictObject(FunctionTool), ...cached }),
      )
      .max(128)
      .nullish(),
    tool_choice: ChatToolChoice.nullish(),
    stream_options: z
      .strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
      .nullish(),
    n: z.int().min(1).max(128).nullish(),
    stop: z
      .union([z.string().min(1), z.array(z.string().min(1)).max(16)])
      .nullish()
      .describe("The text ends before the first of these."),
    seed: z.int().nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    logprobs: only(false),
    top_logprobs: only(0),
    modalities: z.tuple([z.literal("text")]).nullish(),
  })
  .refine(({ stream, stream_options }) => stream || !stream_options, {
    path: ["stream_options"],
    message: "This is allowed only with stream.",
  })
  .refine(({ max_tokens: older, max_completion_tokens: newer }) => !older || !newer || older === newer, {
    path: ["max_tokens"],
    message: "This differs from max_completion_tokens. Send one of them.",
  })
  .meta({ id: "ChatCompletionRequest" });
export type ChatRequest = z.output<typeof ChatRequest>;

const ChatUsage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});
export type ChatUsage = z.output<typeof ChatUsage>;

export const FinishReason = z.enum(["stop", "length", "tool_calls"]);

export const ChatCompletion = z
  .object({
    id: z.string().describe("The id of the execution."),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string().describe("The provider and model that answered."),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.looseObject({
          role: z.literal("assistant"),
          content: z.string().nullable(),
          refusal: z.string().nullable().describe("The model refused to answer, in these words."),
          id: z.string().optional(),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string(),
                type: z.literal("function"),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .optional(),
        }),
        finish_reason: FinishReason,
        logprobs: z.null(),
      }),
    ),
    usage: ChatUsage.optional(),
    metadata: z
      .record(z.string(), z.string())
      .describe("The metadata of the request, plus `capstan_receipt_id`."),
  })
  .meta({ id: "ChatCompletion" });
export type ChatCompletion = z.output<typeof ChatCompletion>;

const Usd = z.number().describe("US dollars.");
export const ModelMetadata = z.object({
  route: z.string().describe("The `provider/model` that a request with this name runs on now."),
  endpoints: z.array(z.string()).describe("The paths that accept it."),
  contextWindow: z.int().nullable().describe("Maximum tokens in a request. Null if unknown."),
  defaultMaxOutputTokens: z
    .int()
    .nullable()
    .describe(
      "Maximum tokens in an answer if the request sets no limit. Null if its answers have no tokens.",
    ),
  maxOutputTokens: z.int().nullable().describe("The highest token limit a request can set. Null if unknown."),
  prices: z
    .array(
      z.object({
        per: z.enum(["million_tokens", "image", "second", "million_characters", "mesh", "request"]),
        currency: z.literal("USD"),
        input: Usd.optional(),
        cachedInput: Usd.optional(),
        cacheWrite: z.record(z.string(), Usd).optional(),
        output: Usd.optional(),
        reasoning: Usd.optional(),
        amount: Usd.optional(),
        sizes: z
          .array(z.object({ size: z.string(), byQuality: z.record(z.string(), Usd) }))
          .optional()
          .describe("For images: each listed size."),
      }),
    )
    .describe(
      "The provider's list prices, one for each kind of work of the model. Managed prices include the service fee.",
    ),
  features: z.record(z.string(), z.boolean()).describe("What a request can use."),
});
export const Model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int().describe("Always 0: no date is stored."),
    owned_by: z.string(),
    metadata: ModelMetadata,
  })
  .meta({ id: "OpenAIModel" });
export const ModelList = z.object({ object: z.literal("list"), data: z.array(Model) });
export const ModelRef = z.object({ model: PathId.meta({ description: ModelName.description }) });

/** An error in the form that OpenAI's clients read. */
export const OpenAIError = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
      details: JsonObject.optional().describe("The error, by code as everywhere in this API."),
      requestId: z.string().optional(),
      docsUrl: z.string().optional().describe("The page about this code, on this installation."),
    }),
  })
  .meta({ id: "OpenAIErrorResponse" });
export type OpenAIError = z.output<typeof OpenAIError>;
