import type { TextInput } from "@/server/contract/inputs";
import type { ModelFacts, ResponseFormat, TextCall, TextResult } from "@/server/providers/define";
import { type CallOptions, CapabilityFault } from "../define";

/** Can this model do what a text input asks? */
export function acceptsText(input: TextInput, model: ModelFacts): boolean {
  if (input.responseSchema && !model.supports.jsonSchema) return false;
  if (input.responseFormat === "json_object" && !input.responseSchema && !model.supports.jsonObject)
    return false;
  return (
    input.maxOutputTokens === undefined ||
    input.maxOutputTokens <= (model.maxOutputTokens ?? input.maxOutputTokens)
  );
}

/** The most tokens one run may answer: what the caller asked for, else the capability's budget, never above the model's. */
export function outputCap(input: TextInput, model: ModelFacts, budget: number): number {
  return input.maxOutputTokens ?? Math.min(budget, model.maxOutputTokens ?? budget);
}

/** A text input as a call of the text port. `cap` is sent, so that a quote's bound holds. */
export function toTextCall(
  input: TextInput,
  options: CallOptions,
  cap: number,
  fallback: ResponseFormat,
): TextCall {
  const schema = options.responseSchema ?? input.responseSchema;
  const responseFormat: ResponseFormat = schema
    ? { type: "json_schema", name: "answer", schema }
    : input.responseFormat
      ? { type: input.responseFormat }
      : fallback;
  return {
    messages: input.messages,
    maxOutputTokens: Math.min(cap, options.maxOutputTokens ?? cap),
    responseFormat,
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.reasoningIntent === undefined ? {} : { reasoningIntent: options.reasoningIntent }),
    ...(options.tools === undefined ? {} : { tools: options.tools }),
  };
}

/** Refuses what is no answer: cut off, filtered, or empty without a tool call. */
export function requireAnswer(result: TextResult): TextResult {
  if (result.finishReason === "length") {
    throw new CapabilityFault(
      "OutputLimitReached",
      "The model stopped at its output limit before the answer was complete.",
    );
  }
  if (result.finishReason === "content_filter") {
    throw new CapabilityFault("ProviderRejected", "The provider's content filter stopped the answer.");
  }
  if (result.text.trim() === "" && result.toolCalls.length === 0) {
    throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider answered without any output.");
  }
  return result;
}
