import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import type { ModelFacts, ProviderIo } from "../define";
import { placeSampling, requireOfModel, respellChoice, respellTools } from "../pin-call";
import { type PinApis, type PinCall, PinRefusal, toPinAnswer } from "../pins";
import { withoutUndefined } from "../text-call";
import { explainAnthropicError, toAnthropicProgress } from "./reply";
import { THINKS_BY_BUDGET } from "./request";

/* Pins of the Messages API. */

/** Pins of the vendor; `headers` makes the headers of each request. */
export const pinsWith = (headers: (io: ProviderIo) => Record<string, string>): PinApis => ({
  messages: {
    path: () => "/v1/messages",
    content: ["model", "system", "messages", "tools", "output_config.format"],
    canDefer: false,
    headers,
    explain: explainAnthropicError,
    body(call, model) {
      requireOfModel(call, model);
      const { instructions, input, sampling } = call;
      if (sampling.maxOutputTokens === undefined)
        throw new PinRefusal(
          ["sampling", "maxOutputTokens"],
          "The provider requires an output limit in every request.",
        );
      const { thinking: _, thinkingBudgetTokens: __, ...rest } = sampling;
      const { output_config, ...settings } = placeSampling(
        { ...call, sampling: rest },
        {
          maxOutputTokens: "max_tokens",
          stop: "stop_sequences",
          reasoningEffort: "output_config.effort",
        },
      );
      const format = formatOf(call);
      return {
        model: model.id,
        messages: [{ role: "user", content: input }],
        ...settings,
        ...withoutUndefined({
          system: instructions,
          thinking: thinkingOf(call, model),
          output_config: format
            ? { ...(isObject(output_config) ? output_config : {}), format }
            : output_config,
          tools: respellTools(call, toTool),
          tool_choice: choiceOf(call),
        }),
      };
    },
    read: (reply, io) => toPinAnswer(toAnthropicProgress(reply, io)),
  },
});

/** Older models reason within a token budget; later ones decide for themselves, guided by an effort. */
function thinkingOf({ sampling }: PinCall, { id }: ModelFacts): Json | undefined {
  const { thinking, thinkingBudgetTokens: budget, reasoningEffort } = sampling;
  const byBudget = THINKS_BY_BUDGET.has(id);
  if (byBudget && reasoningEffort !== undefined)
    throw new PinRefusal(
      ["sampling", "reasoningEffort"],
      `The model ${id} reasons by a token budget. Set one instead.`,
    );
  if (budget !== undefined && (!byBudget || thinking === "disabled"))
    throw new PinRefusal(
      ["sampling", "thinkingBudgetTokens"],
      `The model ${id} does not support a token budget in this form.`,
    );
  if (byBudget && thinking === "enabled" && budget === undefined)
    throw new PinRefusal(
      ["sampling", "thinkingBudgetTokens"],
      `The model ${id} reasons by a token budget. Set one instead.`,
    );
  if (budget !== undefined) return { type: "enabled", budget_tokens: budget };
  return thinking && { type: thinking === "enabled" ? "adaptive" : thinking };
}

/**
 * The vendor requires a schema for every tool, even one without arguments. A schema that is already under the vendor's
 * name, `input_schema`, stays there.
 */
function toTool(tool: Record<string, Json>): Record<string, Json> {
  if (tool.input_schema !== undefined) return tool;
  const { parameters = { type: "object" }, ...rest } = tool;
  return { ...rest, input_schema: parameters };
}

/**
 * The vendor supports no other format than a schema. It takes no name for the schema and always enforces it. Undefined
 * for plain text.
 */
function formatOf({ responseFormat }: PinCall): Json | undefined {
  if (responseFormat?.type === "json_object")
    throw new PinRefusal(["responseFormat"], "This interface does not support the format json_object.");
  if (responseFormat?.type !== "json_schema") return undefined;
  if (responseFormat.strict === false)
    throw new PinRefusal(
      ["responseFormat", "strict"],
      "This interface always enforces the schema. Leave this out.",
    );
  return { type: "json_schema", schema: responseFormat.schema };
}

function choiceOf(call: PinCall): Json | undefined {
  const choice = respellChoice(call, (name) => ({ type: "tool", name }));
  if (typeof choice !== "string") return choice;
  return { type: choice === "required" ? "any" : choice };
}
