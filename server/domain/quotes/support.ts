import type { Capability } from "@/server/capabilities/define";
import { offersOf, type Route, routeKey, routeUnavailable, targetsOf } from "@/server/domain/catalog";
import type { Connection } from "@/server/domain/credentials";
import { isListed, type ModelFacts, type TextSetting } from "@/server/providers/define";
import { refuseField, type Wanted } from "./wanted";

const WORDS: Record<TextSetting, string> = {
  topP: "top_p",
  stop: "stop sequences",
  seed: "a seed",
  frequencyPenalty: "a frequency penalty",
  presencePenalty: "a presence penalty",
  choices: "several answers per request",
};

/** What is asked beside the input goes to the provider as its own feature, or not at all: the first a model lacks. */
export function unsupportedBy(
  { supports, takes, members: listed = [] }: Pick<ModelFacts, "supports" | "takes" | "members">,
  { toolSchemas, responseSchema, sampling, conversation }: Wanted,
): { field: string; what: string } | null {
  if ((toolSchemas?.length || conversation?.turns?.length) && !supports.tools)
    return { field: "toolSchemas", what: "tools" };
  if (responseSchema && !supports.jsonSchema) return { field: "responseSchema", what: "a response schema" };
  if (typeof sampling?.temperature === "number" && !supports.temperature)
    return { field: "sampling.temperature", what: "a temperature" };
  const { toolChoice } = conversation ?? {};
  if (toolChoice && toolChoice !== "none" && !supports.forcedTools)
    return { field: "conversation.toolChoice", what: "a required tool call" };
  const { members = {}, ...settings } = conversation?.settings ?? {};
  for (const name of Object.keys(settings))
    if (!takes?.includes(name as TextSetting))
      // of its settings
      return { field: `conversation.settings.${name}`, what: WORDS[name as TextSetting] };
  for (const name of Object.keys(members))
    if (!isListed(name, listed)) return { field: `conversation.settings.members.${name}`, what: name };
  const intent = sampling?.reasoningIntent;
  if (intent && intent !== "omit" && !supports.reasoning)
    return { field: "sampling.reasoningIntent", what: "a reasoning intent" };
  return null;
}

/** Refuses what is asked beside the input and the model of this route has not; says who has it. */
export function checkSupport(
  capability: Capability,
  { provider, model }: Pick<Route, "provider" | "model">,
  wanted: Wanted,
  connections: readonly Connection[],
) {
  // A text model without schemas of its own is asked for one in words.
  const asked = model.port === "text" ? { ...wanted, responseSchema: null } : wanted;
  const lacking = unsupportedBy(model, asked);
  if (!lacking) return;
  const able = targetsOf(capability, connections).filter(
    (target) => !target.model.onlyByName && unsupportedBy(target.model, asked) === null,
  );
  const [reached] = able.filter((target) => offersOf(target, connections).length > 0);
  const [known] = able;
  const instead = reached
    ? ` Use ${routeKey(reached)}.`
    : known
      ? ` Connect a ${known.provider.title} account to use ${routeKey(known)}.`
      : lacking.field.includes(".members.")
        ? " A server that you connect by its address accepts it if its connection lists it in passThrough."
        : "";
  refuseField(lacking.field, `${routeKey({ provider, model })} does not support ${lacking.what}.${instead}`);
}

/** What runs here has no model: nothing of it may be asked for or chosen. */
export function refuseModelWords(capability: Capability, wanted: Wanted) {
  const lacking = unsupportedBy({ supports: {} }, wanted);
  if (lacking)
    refuseField(
      lacking.field,
      `${capability.key} runs without a model and does not support ${lacking.what}. Leave it out.`,
    );
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  if (wanted.pin || providerPin || (preferredModel && !autoSelect))
    routeUnavailable([], { pin: wanted.pin?.target, providerPin, preferredModel });
}
