import { checkSchema, type JsonSchema, misfitsOf } from "@/server/compute/json-schema";
import type { Json } from "@/server/platform/durable/step";
import { bareJsonOf } from "@/server/platform/text/bare-json";
import { canonicalText, formFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { lossIn } from "@/server/platform/text/json-text";
import { wholeValue } from "@/server/platform/text/whole-text";
import type { ModelFacts, TextCall, TextMessage, TextResult } from "@/server/providers/define";
import { textOf } from "@/server/providers/define";
import {
  type CallOptions,
  CapabilityFault,
  InputFault,
  MAX_REPAIR_BYTES,
  type Repair,
  SCHEMA_NAME,
  UnfitAnswer,
} from "../define";

/* Answers in JSON: asked for as the model's own feature where it has one, in words where not; validated in both cases. */

/** What an answer must be. `text`: words, of which nothing is asked. */
export type Shape =
  | { kind: "text" }
  | {
      kind: "json";
      schema: JsonSchema | null;
      isObject: boolean;
      /** The caller's words for a provider that takes them; absent: our own name, and as strict as the provider likes. */
      name?: string;
      strict?: boolean;
    };

/** The conversation with its pictures read, and the shape of the answer. */
export type Material = { messages: TextMessage[]; shape: Shape };

/** Where a schema was given, from the body on. */
const INSIDE = ["input", "responseSchema"];
const BESIDE = ["responseSchema"];

/**
 * The shape a request asks for. A schema may be in the input or beside it; given twice it must be the same, and one that
 * cannot be validated against is refused at its place.
 */
export async function shapeOf(
  input: { responseFormat?: "text" | "json_object" | undefined; responseSchema?: JsonSchema | undefined },
  options: Pick<CallOptions, "responseSchema" | "responseSchemaName" | "responseSchemaStrict">,
  { isObject }: { isObject: boolean },
): Promise<Shape> {
  const beside = options.responseSchema;
  const inside = input.responseSchema;
  if (beside && inside && canonicalText(beside) !== canonicalText(inside))
    throw new InputFault(BESIDE, "This differs from input.responseSchema. Send it once.");
  if (beside && input.responseFormat === "text")
    throw new InputFault(["input", "responseFormat"], "text cannot be combined with responseSchema.");
  const schema = beside ?? inside;
  if (schema) await requireSchema(schema, beside ? BESIDE : INSIDE, isObject);
  const { responseSchemaName: name, responseSchemaStrict: strict } = options;
  if (schema || isObject || input.responseFormat === "json_object")
    return {
      kind: "json",
      schema: schema ?? null,
      isObject: isObject || !schema,
      ...(name === undefined ? {} : { name }),
      ...(strict === undefined ? {} : { strict }),
    };
  return { kind: "text" };
}

/** Refuses a schema of the caller at its field, down to the keyword. */
export async function requireSchema(schema: JsonSchema, field: string[], isObject: boolean): Promise<void> {
  const problem = await checkSchema(schema);
  if (problem) throw new InputFault([...field, ...problem.path], problem.message);
  const types = schema.type === undefined ? ["object"] : [schema.type].flat();
  if (isObject && !types.includes("object"))
    throw new InputFault(
      [...field, "type"],
      "The answer must be a JSON object, and this schema allows none.",
    );
}

/** Does the model promise this shape itself? */
export const isNative = (shape: Shape, { supports }: ModelFacts): boolean =>
  shape.kind === "text" || Boolean(shape.schema ? supports.jsonSchema : supports.jsonObject);

/** The call, with the shape as the model's own feature or as words before the conversation. */
export function shaped(call: TextCall, shape: Shape, model: ModelFacts): TextCall {
  if (shape.kind === "text") return call;
  const { schema, isObject, name = SCHEMA_NAME, strict } = shape;
  const strictness = strict === undefined ? {} : { strict };
  if (isNative(shape, model))
    return {
      ...call,
      responseFormat: schema ? { type: "json_schema", name, ...strictness, schema } : { type: "json_object" },
    };
  return {
    ...call,
    messages: withInstruction(call.messages, inWords(shape)),
    responseFormat: isObject && model.supports.jsonObject ? { type: "json_object" } : { type: "text" },
  };
}

function inWords({ schema, isObject }: Extract<Shape, { kind: "json" }>): string {
  const what = isObject ? "one JSON object" : "one JSON value";
  const only = `Answer with ${what} and nothing else: no words around it, no code fence.`;
  return schema ? `${only} It must be valid against this JSON Schema:\n${JSON.stringify(schema)}` : only;
}

/** After the caller's own instructions, before the conversation. */
function withInstruction(messages: TextMessage[], content: string): TextMessage[] {
  const first = messages.findIndex(({ role }) => role !== "system");
  const at = first < 0 ? messages.length : first;
  return [...messages.slice(0, at), { role: "system", content }, ...messages.slice(at)];
}

/** The JSON of an answer, held to its shape. Throws UnfitAnswer, also for what would say something else as a value than as text. */
export async function readJson(result: TextResult, shape: Shape): Promise<Json> {
  const value = await readShaped(result, shape);
  const loss = lossIn(bareJsonOf(result.text));
  if (loss) throw new UnfitAnswer(`The model's answer is JSON that contains ${loss}.`, [`It holds ${loss}.`]);
  return value;
}

/** The same of an answer that is handed on as text, with every digit and member. */
export async function readShaped(result: TextResult, shape: Shape): Promise<Json> {
  if (result.text.trim() === "" && result.toolCalls.length > 0)
    throw new CapabilityFault("StructuredOutputInvalid", "The model called a tool instead of answering.");
  let value: Json;
  try {
    value = wholeValue(JSON.parse(bareJsonOf(result.text)));
  } catch {
    // The parser's own words quote the answer.
    throw new UnfitAnswer("The model's answer is not JSON.", ["It is not JSON."]);
  }
  const flaw = formFlaw(value);
  if (flaw) throw new UnfitAnswer(`The model's answer is JSON that contains ${flaw}.`, [`It holds ${flaw}.`]);
  if (shape.kind === "text") return value;
  if (shape.isObject && !isObject(value))
    throw new UnfitAnswer("The model's answer is JSON, but not an object.", ["It is not a JSON object."]);
  const misfits = shape.schema ? await misfitsOf(shape.schema, value) : [];
  if (misfits.length > 0) {
    const keywords = [...new Set(misfits.map(({ keyword }) => keyword))].join(", ");
    throw new UnfitAnswer(
      `The model's answer does not match the schema (${keywords}).`,
      misfits.map(({ at, message }) => `${at || "/"}: ${message}`),
    );
  }
  return value;
}

/** The conversation again, with the answer and what is wrong with it. The sandbox knows such a call by its first words. */
export function withFindings(call: TextCall, { text }: TextResult, { findings }: UnfitAnswer): TextCall {
  const opening = "Your last answer cannot be used:";
  const closing = "Answer again, with the whole corrected answer and nothing else.";
  let room = MAX_REPAIR_BYTES - Buffer.byteLength(`${opening}\n\n${closing}`);
  const complaints = findings
    .map((finding) => `- ${finding}`)
    .filter((line) => {
      room -= Buffer.byteLength(line) + 1;
      return room >= 0;
    });
  return {
    ...call,
    messages: [
      ...call.messages,
      { role: "assistant", content: text },
      { role: "user", content: [opening, ...complaints, closing].join("\n") },
    ],
  };
}

/** Answers of models that do not promise the shape themselves are given back once. */
export const repairInWords = <I, M>(shapeIn: (material: M) => Shape): Repair<I, TextCall, TextResult, M> => ({
  mayBeNeeded: (_input, model, material) => !isNative(shapeIn(material), model),
  call: withFindings,
});

/** The words of the conversation, for capabilities that look for something in it. */
export const wordsOf = (messages: TextMessage[]): string => messages.map(textOf).join("\n");

/** Refuses, at its field, what a capability with a shape of its own cannot take beside its input. */
export function refuseBeside(key: string, options: CallOptions = {}): void {
  if (options.responseSchema)
    throw new InputFault(
      BESIDE,
      `${key} has a fixed answer format. Leave out responseSchema and responseFormat.`,
    );
  if (options.tools) throw new InputFault(["toolSchemas"], `${key} does not support tools.`);
}
