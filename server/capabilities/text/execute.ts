import type { StructuredOutput, TextInput, TextOutput } from "@/server/contract/inputs";
import type { ModelFacts, TextGrade } from "@/server/providers/define";
import { withParts } from "../conversation";
import type { CapabilityDefinition } from "../define";
import { fitsText, gradeRank, isOfGrade, outputCap, requireAnswer, toTextCall } from "./call";
import { spokenOf, withAnswers } from "./input";
import { textOutput } from "./output";
import { readMessages } from "./pictures";
import {
  type AnswerShape,
  isNative,
  type Material,
  readJsonAnswer,
  readShaped,
  repairInWords,
  shaped,
  shapeOf,
} from "./shape";

export type TextKind = {
  /** Output tokens of a run if the caller sets no limit. */
  budget: number;
  /** Only models of these grades are used; absent: all models. */
  only?: TextGrade[];
  /** Grades in order of preference. */
  prefer: TextGrade[];
  /** Minimum context window of a model, in tokens. */
  contextTokens?: number;
};
type Execute<O> = Extract<CapabilityDefinition<TextInput, O, Material>["execute"], { port: "text" }>;

function base({ budget, only, prefer, contextTokens = 0 }: TextKind, isObject: boolean) {
  return {
    port: "text" as const,
    accepts: (_input: TextInput, model: ModelFacts) =>
      (!only || isOfGrade(model, ...only)) && (model.contextWindow ?? 0) >= contextTokens,
    fits: fitsText,
    // A model with native support for the shape goes before one that needs instructions.
    prefers: (input: TextInput, model: ModelFacts) =>
      10 * Number(isNative(shapeInInput(input, isObject), model)) + gradeRank(model, ...prefer),
    materialize: async (input: TextInput, _files: unknown, options = {}) => ({
      shape: await shapeOf(input, options, { isObject }),
      messages: withAnswers(await readMessages(withParts(spokenOf(input), options.conversation)), input),
    }),
    call: (input, options, model, { messages, shape }) =>
      shaped(toTextCall(messages, options, outputCap(input, model, budget)), shape, model),
    isJson: ({ shape }) => shape.kind === "json",
    bounds: (input: TextInput, model: ModelFacts) => ({ outputTokens: outputCap(input, model, budget) }),
    repair: repairInWords<TextInput, Material>(({ shape }) => shape),
  } satisfies Omit<Execute<unknown>, "result">;
}

function shapeInInput({ responseSchema, responseFormat }: TextInput, isObject: boolean): AnswerShape {
  return responseSchema || responseFormat === "json_object" || isObject
    ? { kind: "json", schema: responseSchema ?? null, isObject }
    : { kind: "text" };
}

/** Answers with text. If JSON was requested, an answer without tool calls must match the shape; a refusal is returned as it is. */
export function toWords(kind: TextKind): Execute<TextOutput> {
  return {
    ...base(kind, false),
    async result(result, _input, { material: { shape }, usage }) {
      const isRefused = result.isRefusal && result.finishReason === "stop";
      if (isRefused) return { typedOutput: textOutput(result), files: [] };
      const answer = requireAnswer(result, usage);
      if (shape.kind === "json" && answer.toolCalls.length === 0) await readShaped(result, shape);
      return { typedOutput: textOutput(answer), files: [] };
    },
  };
}

/** Answers with one JSON object, which must match the caller's schema if there is one. */
export function toObject(kind: TextKind): Execute<StructuredOutput> {
  return {
    ...base(kind, true),
    async result(result, _input, { material: { shape }, usage }) {
      const value = await readJsonAnswer(requireAnswer(result, usage), shape);
      return { typedOutput: value as StructuredOutput, files: [] }; // an object, since the shape requires one
    },
  };
}
