import { z } from "zod";
import { CacheControl } from "@/server/contract/openai";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import type {
  ModelFacts,
  TextCall,
  TextGrade,
  TextMessage,
  TextResult,
  Usage,
} from "@/server/providers/define";
import { withTurns } from "../conversation";
import { type CallOptions, CapabilityFault, InputFault } from "../define";

/** Can this model's output limit hold the requested maximum? */
export function fitsText({ maxOutputTokens }: { maxOutputTokens?: number | undefined }, model: ModelFacts) {
  return maxOutputTokens === undefined || maxOutputTokens <= (model.maxOutputTokens ?? maxOutputTokens);
}

/** Is the model made for one of these kinds of work? A model without grades counts as `fast`. */
export const isOfGrade = (model: ModelFacts, ...grades: TextGrade[]): boolean =>
  grades.some((grade) => model.grades?.includes(grade) ?? grade === "fast");

/** Rank of a model by the first of these grades that it has; higher is better, 0 if it has none. */
export function gradeRank(model: ModelFacts, ...order: TextGrade[]): number {
  const place = order.findIndex((grade) => isOfGrade(model, grade));
  return place < 0 ? 0 : order.length - place;
}

/**
 * Maximum output tokens of one run: the caller's limit or the capability's budget, but never above the model's limit.
 */
export function outputCap(
  input: { maxOutputTokens?: number | undefined },
  model: ModelFacts,
  budget: number,
): number {
  return Math.min(input.maxOutputTokens ?? budget, model.maxOutputTokens ?? Number.POSITIVE_INFINITY);
}

const Mark = z.strictObject(CacheControl);

/**
 * Separates cache marks from tools, because only servers whose price includes cache writes receive them. Throws
 * InputFault for an invalid mark.
 */
function unmarked(tools: Record<string, Json>[]): Pick<TextCall, "tools" | "toolCache"> {
  const toolCache: NonNullable<TextCall["toolCache"]> = [];
  const plain = tools.map((tool, at) => {
    const { cache_control: outer, ...rest } = tool;
    const { cache_control: inner, ...called } = isObject(tool.function) ? tool.function : {};
    if (outer === undefined && inner === undefined) return tool;
    const mark = Mark.nullable().safeParse(outer ?? inner);
    if (!mark.success)
      throw new InputFault(
        ["toolSchemas", at, "cache_control"],
        'This must be {"type": "ephemeral"}, with a ttl of 5m or 1h.',
      );
    const { ttl } = mark.data ?? {};
    if (mark.data) toolCache.push({ at, ...(ttl ? { ttl } : {}) });
    return isObject(tool.function) ? { ...rest, function: called } : rest;
  });
  return { tools: plain, ...(toolCache.length > 0 ? { toolCache } : {}) };
}

/** A text call without an answer format. It always sends a limit of at most `cap`, so that the quote's bound holds. */
export function toTextCall(messages: TextMessage[], options: CallOptions, cap: number): TextCall {
  const { toolChoice, parallelToolCalls, settings } = options.conversation ?? {};
  return {
    messages: withTurns(messages, options.conversation),
    maxOutputTokens: Math.min(cap, options.maxOutputTokens ?? cap),
    responseFormat: { type: "text" },
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.reasoningIntent === undefined ? {} : { reasoningIntent: options.reasoningIntent }),
    ...(options.tools === undefined ? {} : unmarked(options.tools)),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(settings === undefined ? {} : { settings }),
  };
}

/** Throws for an answer that was cut off, filtered or refused, or that is empty without a tool call. */
export function requireAnswer(result: TextResult, usage?: Usage | null): TextResult {
  const isEmpty = result.text.trim() === "" && result.toolCalls.length === 0;
  if (result.finishReason === "length") {
    if (isEmpty && (usage?.reasoningTokens ?? 0) > 0)
      throw new CapabilityFault(
        "ReasoningBudgetExhausted",
        "The model spent all its output tokens on reasoning and wrote nothing. Raise the output token limit.",
      );
    throw new CapabilityFault(
      "OutputLimitReached",
      "The model reached its output limit before the answer was complete. Raise the limit or ask for a shorter answer.",
    );
  }
  if (result.finishReason === "content_filter") {
    throw new CapabilityFault("ProviderRejected", "The provider's content filter stopped the answer.");
  }
  if (result.isRefusal) throw new CapabilityFault("ProviderRejected", "The model refused to answer.");
  if (isEmpty)
    throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider's answer contains no output.");
  return result;
}
