import { checkSchema, type JsonSchema, misfitsOf } from "@/server/compute/json-schema";
import type { Json } from "@/server/platform/durable/step";
import { bareJsonOf } from "@/server/platform/text/bare-json";
import { canonicalText, formFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { lossIn } from "@/server/platform/text/json-text";
import { wholeValue } from "@/server/platform/text/whole-text";
import type { ModelFacts, TextCall, TextMessage, TextResult } from "@/server/providers/define";
import {
  type CallOptions,
  CapabilityFault,
  InputFault,
  MAX_REPAIR_BYTES,
  type Repair,
  SCHEMA_NAME,
  UnfitAnswer,
} from "../define";

/*
 * JSON answers: requested through the model's own feature if it has one, otherwise by instructions, and validated in
 * both cases.
 */

/** The required form of an answer; `text` has no requirement. */
export type AnswerShape =
  | { kind: "text" }
  | {
      kind: "json";
      schema: JsonSchema | null;
      isObject: boolean;
      /**
       * The caller's name and strictness. If absent, our name is sent and the provider's default strictness applies.
       */
      name?: string;
      strict?: boolean;
    };

/** The conversation with its pictures decoded, and the form of the answer. */
export type Material = { messages: TextMessage[]; shape: AnswerShape };

/** Paths of the two places for a schema in the body. */
const INSIDE = ["input", "responseSchema"];
const BESIDE = ["responseSchema"];

/**
 * The form that a request requires. A schema can be inside the input or beside it; if it is in both, they must be
 * equal. Throws InputFault for a schema that cannot be validated against.
 */
export async function shapeOf(
  input: { responseFormat?: "text" | "json_object" | undefined; responseSchema?: JsonSchema | undefined },
  options: Pick<CallOptions, "responseSchema" | "responseSchemaName" | "responseSchemaStrict">,
  { isObject }: { isObject: boolean },
): Promise<AnswerShape> {
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

/** Throws InputFault for an invalid schema, with the path down to the keyword. */
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

/** Can the model guarantee this form itself? */
export const isNative = (shape: AnswerShape, { supports }: ModelFacts): boolean =>
  shape.kind === "text" || Boolean(shape.schema ? supports.jsonSchema : supports.jsonObject);

/** Adds the form to the call: as the model's own feature, or as an instruction before the conversation. */
export function shaped(call: TextCall, shape: AnswerShape, model: ModelFacts): TextCall {
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

function inWords({ schema, isObject }: Extract<AnswerShape, { kind: "json" }>): string {
  const what = isObject ? "one JSON object" : "one JSON value";
  const only = `Answer with ${what} and nothing else: no words around it, no code fence.`;
  return schema ? `${only} It must be valid against this JSON Schema:\n${JSON.stringify(schema)}` : only;
}

/** Adds an instruction after the caller's own and before the conversation. */
function withInstruction(messages: TextMessage[], content: string): TextMessage[] {
  const first = messages.findIndex(({ role }) => role !== "system");
  const at = first < 0 ? messages.length : first;
  return [...messages.slice(0, at), { role: "system", content }, ...messages.slice(at)];
}

/** Parses an answer and checks its form. Throws UnfitAnswer, also for JSON that would lose information as a value. */
export async function readJsonAnswer(result: TextResult, shape: AnswerShape): Promise<Json> {
  const value = await readShaped(result, shape);
  const loss = lossIn(bareJsonOf(result.text));
  if (loss) throw new UnfitAnswer(`The model's answer is JSON that contains ${loss}.`, [`It holds ${loss}.`]);
  return value;
}

/** The same check for an answer that is returned as text, where no digit or member is lost. */
export async function readShaped(result: TextResult, shape: AnswerShape): Promise<Json> {
  if (result.text.trim() === "" && result.toolCalls.length > 0)
    throw new CapabilityFault("StructuredOutputInvalid", "The model called a tool instead of answering.");
  let value: Json;
  try {
    value = wholeValue(JSON.parse(bareJsonOf(result.text)));
  } catch {
    // The parser's message quotes the answer.
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

/** The conversation again, with the answer and its flaws. The sandbox recognizes such a call by its opening words. */
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

/** Returns an unfit answer to the model once, if the model does not guarantee the form itself. */
export const repairInWords = <I, M>(
  shapeIn: (material: M) => AnswerShape,
): Repair<I, TextCall, TextResult, M> => ({
  mayBeNeeded: (_input, model, material) => !isNative(shapeIn(material), model),
  call: withFindings,
});

/** Throws InputFault for options that a capability with a fixed answer format does not support. */
export function refuseBeside(key: string, options: CallOptions = {}): void {
  if (options.responseSchema)
    throw new InputFault(
      BESIDE,
      `${key} has a fixed answer format. Leave out responseSchema and responseFormat.`,
    );
  if (options.tools) throw new InputFault(["toolSchemas"], `${key} does not support tools.`);
}
