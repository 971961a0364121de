import { z } from "zod";
import {
  AllowedMode,
  ChoiceMode,
  cached,
  Effort,
  FunctionTool,
  NamedSchema,
  only,
  PictureDetail,
  shared,
} from "./openai";

/* Requests and answers of POST /v1/responses. The notes on fields in ./openai apply here too. */

const InputText = z.strictObject({ type: z.literal("input_text"), text: z.string(), ...cached });
const InputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string(),
  detail: PictureDetail,
  ...cached,
});

/** Fields of a message; an answer's own output can be sent back unchanged. */
const own = {
  type: z.literal("message").nullish(),
  id: z.string().nullish(),
  status: z.string().nullish(),
  ...cached,
};
const NO_ITEM = "The role must be system, developer, user or assistant.";

const InputMessage = z.discriminatedUnion(
  "role",
  [
    z.strictObject({
      ...own,
      role: z.enum(["system", "developer"]),
      content: z.union([z.string(), z.array(InputText).min(1)]),
    }),
    z.strictObject({
      ...own,
      role: z.literal("user"),
      content: z.union([z.string(), z.array(z.discriminatedUnion("type", [InputText, InputImage])).min(1)]),
    }),
    // Unknown members of a returned answer are ignored.
    z.object({
      type: own.type,
      ...cached,
      role: z.literal("assistant"),
      content: z.union([
        z.string(),
        z.array(
          z.discriminatedUnion("type", [
            z.object({ type: z.literal(["output_text", "input_text"]), text: z.string(), ...cached }),
            z.object({ type: z.literal("refusal"), refusal: z.string() }),
          ]),
        ),
      ]),
    }),
  ],
  { error: (issue) => (issue.code === "invalid_union" ? NO_ITEM : undefined) },
);

/** Other members of a call are opaque, like those of tool calls in chat completions. */
const CalledFunction = z.looseObject({
  type: z.literal("function_call"),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
});
const FunctionResult = z.object({
  type: z.literal("function_call_output"),
  call_id: z.string().min(1),
  output: z.union([z.string(), z.array(InputText)], { error: "The result of a tool must be text." }),
  ...cached,
});
/** An answer's reasoning is useless to another model, so reasoning items are read only if this service issued them. */
const Reasoning = z.looseObject({ type: z.literal("reasoning") });

/**
 * A reference to an item of an earlier answer by its id; the item can be found while the execution's content is kept.
 */
const Reference = z.object({ type: z.literal("item_reference"), id: z.string().min(1).max(128) });

const ITEMS = "message, function_call, function_call_output, reasoning and item_reference";
export const InputItem = z.discriminatedUnion(
  "type",
  [InputMessage, CalledFunction, FunctionResult, Reasoning, Reference],
  {
    error: (issue) => (issue.code === "invalid_union" ? `The supported items are ${ITEMS}.` : undefined),
  },
);
export type InputItem = z.output<typeof InputItem>;
/** An item that is given in full. */
export type GivenItem = Exclude<InputItem, { type: "item_reference" }>;

const Format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({ type: z.literal("json_schema"), ...NamedSchema }),
]);
const Named = z.strictObject({ type: z.literal("function"), name: z.string() });
const ToolChoice = z.union([
  ChoiceMode,
  Named,
  z.strictObject({ type: z.literal("allowed_tools"), mode: AllowedMode, tools: z.array(Named).min(1) }),
]);
const Tool = z.strictObject({ type: z.literal("function"), ...FunctionTool, ...cached });

const stateless = (instead: string) => z.null({ error: `Responses are not stored: ${instead}` }).optional();

export const ResponsesRequest = z
  .looseObject({
    ...shared,
    input: z.union([z.string(), z.array(InputItem).min(1)]),
    instructions: z.string().nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    reasoning: z
      .strictObject({
        effort: Effort.nullish(),
        summary: z.null({ error: "Reasoning summaries are not supported." }).optional(),
      })
      .nullish(),
    text: z.strictObject({ format: Format.nullish(), verbosity: only("medium") }).nullish(),
    tools: z.array(Tool).max(128).nullish(),
    tool_choice: ToolChoice.nullish(),
    stream_options: z.strictObject({ include_obfuscation: z.boolean().nullish() }).nullish(),
    include: z
      .array(z.literal("reasoning.encrypted_content", { error: "This cannot be included." }))
      .nullish()
      .describe("Adds an item with what the model wants back."),
    previous_response_id: stateless("send the whole conversation."),
    conversation: stateless("send the whole conversation."),
    prompt: stateless("send the prompt itself."),
    background: z
      .literal(false, { error: "Only false is supported. Submit durable jobs at /v1/capabilities." })
      .nullish(),
    truncation: z
      .literal("disabled", { error: 'Only "disabled" is supported: nothing is truncated.' })
      .nullish(),
    top_logprobs: z.literal(0, { error: "Only 0 is supported." }).nullish(),
  })
  .meta({ id: "ResponsesRequest" });
export type ResponsesRequest = z.output<typeof ResponsesRequest>;

const Message = z.object({
  type: z.literal("message"),
  id: z.string(),
  status: z.enum(["completed", "in_progress", "incomplete"]),
  role: z.literal("assistant"),
  content: z.array(
    z.discriminatedUnion("type", [
      z.object({
        type: z.literal("output_text"),
        text: z.string(),
        annotations: z.array(z.never()),
        logprobs: z.array(z.never()),
      }),
      z.object({ type: z.literal("refusal"), refusal: z.string() }),
    ]),
  ),
});
const FunctionCall = z.looseObject({
  type: z.literal("function_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: z.enum(["completed", "in_progress"]),
});
const ReasoningItem = z.object({
  type: z.literal("reasoning"),
  id: z.string(),
  summary: z.array(z.never()),
  encrypted_content: z.string(),
});
export type OutputItem =
  | z.output<typeof Message>
  | z.output<typeof FunctionCall>
  | z.output<typeof ReasoningItem>;

export const ResponseObject = z
  .object({
    id: z.string().describe("The id of the execution."),
    object: z.literal("response"),
    created_at: z.int(),
    status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
    background: z.literal(false),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z
      .record(z.string(), z.string())
      .describe("The metadata of the request, plus `capstan_receipt_id`."),
    model: z.string().describe("The provider and model that answered."),
    output: z.array(z.discriminatedUnion("type", [Message, FunctionCall, ReasoningItem])),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.null(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    store: z.literal(false),
    temperature: z.number().nullable(),
    text: z.object({ format: Format }),
    tool_choice: ToolChoice,
    tools: z.array(Tool.omit({ cache_control: true })),
    top_p: z.number(),
    truncation: z.literal("disabled"),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).nullable(),
  })
  .meta({ id: "ResponseObject" });
export type ResponseObject = z.output<typeof ResponseObject>;
