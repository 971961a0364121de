import { StructuredOutput, TextInput, TextOutput } from "@/server/contract/inputs";
import type { Json } from "@/server/platform/durable/step";
import { type Capability, type CapabilityDefinition, defineCapability } from "../define";
import { type TextKind, toObject, toWords } from "./execute";
import { inTokens, STRUCTURED_ERRORS, textFeatures } from "./kinds";

type Own = Pick<
  CapabilityDefinition<TextInput, unknown>,
  | "key"
  | "title"
  | "description"
  | "modes"
  | "intentExamples"
  | "synonyms"
  | "taskTags"
  | "readySummary"
  | "sync"
  | "durable"
  | "examples"
> & {
  /** Input limit of the messages, in tokens. */
  contextTokens: number;
  features?: Record<string, Json>;
  answer: TextKind;
};

const common = ({ contextTokens, features, answer: _, ...own }: Own, more: Record<string, Json>) => ({
  ...own,
  modality: "text" as const,
  family: "text",
  category: "generation",
  input: TextInput,
  inputConstraints: { messages: inTokens(contextTokens) },
  inputMediaTypes: ["text/plain"],
  features: textFeatures(own, contextTokens, { ...more, ...features }),
  trialEligible: true,
});

/** Defines a capability that answers a conversation with text. */
export const defineWords = (own: Own): Capability =>
  defineCapability({
    ...common(own, { streams: own.modes.includes("invoke_stream") }),
    output: TextOutput,
    outputKind: "text",
    outputMediaType: "text/plain",
    execute: toWords(own.answer),
  });

/** Defines a capability that answers a conversation with one JSON object. */
export const defineObject = (own: Own): Capability =>
  defineCapability({
    ...common(own, { jsonSchema: true, errorCodes: STRUCTURED_ERRORS }),
    output: StructuredOutput,
    outputKind: "structured",
    outputMediaType: "application/json",
    execute: toObject(own.answer),
  });
