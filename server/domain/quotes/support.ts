import type { Capability } from "@/server/capabilities/define";
import { routeUnavailable } from "@/server/domain/catalog";
import type { ModelFacts } from "@/server/providers/define";
import { refuseField, type Wanted } from "./wanted";

/** What is asked beside the input goes to the provider as its own feature, or not at all: the first a model lacks. */
export function unsupportedBy(
  { supports }: Pick<ModelFacts, "supports">,
  { toolSchemas, responseSchema, sampling, conversation }: Wanted,
): { field: string; what: string } | null {
  if ((toolSchemas?.length || conversation?.turns?.length) && !supports.tools)
    return { field: "toolSchemas", what: "tools" };
  if (responseSchema && !supports.jsonSchema) return { field: "responseSchema", what: "a response schema" };
  if (typeof sampling?.temperature === "number" && !supports.temperature)
    return { field: "sampling.temperature", what: "a temperature" };
  const intent = sampling?.reasoningIntent;
  if (intent && intent !== "omit" && !supports.reasoning)
    return { field: "sampling.reasoningIntent", what: "a reasoning intent" };
  return null;
}

/** Refuses what is asked beside the input and this model has not. */
export function checkSupport(model: ModelFacts, wanted: Wanted) {
  // A text model without schemas of its own is asked for one in words.
  const lacking = unsupportedBy(model, model.port === "text" ? { ...wanted, responseSchema: null } : wanted);
  if (lacking) refuseField(lacking.field, `${model.id} does not take ${lacking.what}.`);
}

/** What runs here has no model: nothing of it may be asked for or chosen. */
export function refuseModelWords(capability: Capability, wanted: Wanted) {
  const lacking = unsupportedBy({ supports: {} }, wanted);
  if (lacking)
    refuseField(lacking.field, `${capability.key} runs without a model and does not take ${lacking.what}.`);
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  if (wanted.pin || providerPin || (preferredModel && !autoSelect))
    routeUnavailable([], { pin: wanted.pin?.target, providerPin, preferredModel });
}
