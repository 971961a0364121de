import { z } from "zod";
import { Effort, FunctionTool, NamedSchema, shared } from "./openai";

/* Requests and answers of POST /v1/responses. What is said of fields in ./openai holds here too. */

const InputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const OutputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.never()).nullish(),
  logprobs: z.array(z.never()).nullish(),
});
const InputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string(),
  detail: z.literal("auto", { error: 'Only "auto" is done here.' }).nullish(),
});

/** A message of the conversation; an answer's own output may be given back as it came. */
const own = { type: z.literal("message").nullish(), id: z.string().nullish(), status: z.string().nullish() };
const NO_ITEM =
  "The input is messages of system, developer, user or assistant; results of tools cannot be given back.";

export const InputMessage = z.discriminatedUnion(
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
    z.strictObject({
      ...own,
      role: z.literal("assistant"),
      content: z.union([z.string(), z.array(OutputText).min(1)]),
    }),
  ],
  { error: (issue) => (issue.code === "invalid_union" ? NO_ITEM : undefined) },
);
export type InputMessage = z.output<typeof InputMessage>;

const Format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({ type: z.literal("json_schema"), ...NamedSchema }),
]);
const Tool = z.strictObject({ type: z.literal("function"), ...FunctionTool });

export const ResponsesRequest = z
  .strictObject({
    ...shared,
    input: z.union([z.string(), z.array(InputMessage).min(1)]),
    instructions: z.string().nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    reasoning: z.strictObject({ effort: Effort.nullish() }).nullish(),
    text: z.strictObject({ format: Format.nullish() }).nullish(),
    tools: z.array(Tool).max(128).nullish(),
    stream_options: z.strictObject({ include_obfuscation: z.boolean().nullish() }).nullish(),
    include: z.array(z.never()).nullish(),
    background: z
      .literal(false, { error: "Only false is done here; jobs are submitted at /v1/capabilities." })
      .nullish(),
    truncation: z.literal("disabled", { error: 'Nothing is cut off here: only "disabled".' }).nullish(),
    top_logprobs: z.literal(0, { error: "Only 0 is done here." }).nullish(),
  })
  .meta({ id: "ResponsesRequest" });
export type ResponsesRequest = z.output<typeof ResponsesRequest>;

const Message = z.object({
  type: z.literal("message"),
  id: z.string(),
  status: z.enum(["completed", "in_progress"]),
  role: z.literal("assistant"),
  content: z.array(
    z.object({
      type: z.literal("output_text"),
      text: z.string(),
      annotations: z.array(z.never()),
      logprobs: z.array(z.never()),
    }),
  ),
});
const FunctionCall = z.object({
  type: z.literal("function_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: z.enum(["completed", "in_progress"]),
});
export type OutputItem = z.output<typeof Message> | z.output<typeof FunctionCall>;

export const ResponseObject = z
  .object({
    id: z.string().describe("The execution's id."),
    object: z.literal("response"),
    created_at: z.int(),
    status: z.enum(["in_progress", "completed", "failed"]),
    background: z.literal(false),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.null(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.string()).describe("The request's own, and `capstan_receipt_id`."),
    model: z.string().describe("The provider and model that answered."),
    output: z.array(z.discriminatedUnion("type", [Message, FunctionCall])),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.null(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    store: z.literal(false),
    temperature: z.number().nullable(),
    text: z.object({ format: Format }),
    tool_choice: z.enum(["auto", "none"]),
    tools: z.array(Tool),
    top_p: z.literal(1),
    truncation: z.literal("disabled"),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).nullable(),
  })
  .meta({ id: "ResponseObject" });
export type ResponseObject = z.output<typeof ResponseObject>;
