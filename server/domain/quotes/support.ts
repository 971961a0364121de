import type { Capability } from "@/server/capabilities/define";
import { offersOf, type Route, routeKey, routeUnavailable, targetsOfPort } from "@/server/domain/catalog";
import type { BoundConnection } from "@/server/domain/connections";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { hasCacheMarks, isMarked, MOST_CACHE_MARKS, statesCacheWrites } from "@/server/providers/cache-marks";
import { isNameListed, type ModelFacts, type TextCall, type TextSetting } from "@/server/providers/define";
import { type RoutingRequest, refuseUnsupported } from "./routing-request";

const WORDS: Record<TextSetting, string> = {
  topP: "top_p",
  stop: "stop sequences",
  seed: "a seed",
  frequencyPenalty: "a frequency penalty",
  presencePenalty: "a presence penalty",
  choices: "several answers per request",
};

/** Warns that cache marks are not sent, because the model of the route has no price for cache writes. */
export function cacheWarnings(
  call: Pick<TextCall, "messages" | "toolCache">,
  { provider, model }: Pick<Route, "provider" | "model">,
): Record<string, Json>[] {
  if (!hasCacheMarks(call) || statesCacheWrites(model.price)) return [];
  const route = routeKey({ provider, model });
  return [
    {
      code: "CacheControlNotSent",
      message: `cache_control was not sent: ${route} has no price for cache writes.`,
      details: { field: "cache_control", route },
    },
  ];
}

/** True if a conversation contains earlier tool calls. */
const bringsCalls = ({ messages }: RoutingRequest["input"]): boolean =>
  Array.isArray(messages) && messages.some((each) => isObject(each) && each.toolCalls !== undefined);

/**
 * Returns the first requested feature that a model lacks; null if it has all. A feature is either sent to
 * the provider or refused.
 */
export function unsupportedBy(
  {
    supports,
    takes,
    members: listed = [],
    price,
  }: Pick<ModelFacts, "supports" | "takes" | "members"> & { price?: ModelFacts["price"] },
  { input, toolSchemas, responseSchema, sampling, conversation }: RoutingRequest,
): { field: string; what: string } | null {
  if (conversation?.parts && !supports.vision) return { field: "conversation.parts", what: "pictures" };
  if (!supports.tools && (toolSchemas?.length || conversation?.turns?.length || bringsCalls(input)))
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
      // the settings have these names
      return { field: `conversation.settings.${name}`, what: WORDS[name as TextSetting] };
  for (const name of Object.keys(members))
    if (!isNameListed(name, listed)) return { field: `conversation.settings.members.${name}`, what: name };
  const marks = (conversation?.cache?.length ?? 0) + (toolSchemas ?? []).filter(isMarked).length;
  if (price && statesCacheWrites(price) && marks > MOST_CACHE_MARKS)
    return { field: "conversation.cache", what: `more than ${MOST_CACHE_MARKS} cache_control marks` };
  const intent = sampling?.reasoningIntent;
  if (intent && intent !== "omit" && !supports.reasoning)
    return { field: "sampling.reasoningIntent", what: "a reasoning intent" };
  return null;
}

/** Hints for the owner of a server, who can declare features that are otherwise unknown. */
const OF_OWN_SERVERS: Partial<Record<string, string>> = {
  "sampling.reasoningIntent":
    " A server that you connect by its address accepts it if its connection lists reasoning_effort in passThrough.",
  "conversation.parts":
    " A server that you connect by its address accepts them if its connection lists the model as id:in:out:pictures.",
};

/** Refuses a requested feature that the model of this route lacks, and names a model that has it. */
export function checkSupport(
  capability: Capability,
  { provider, model }: Pick<Route, "provider" | "model">,
  wanted: RoutingRequest,
  connections: readonly BoundConnection[],
) {
  // A text model without schema support gets the schema in its prompt.
  const asked = model.port === "text" ? { ...wanted, responseSchema: null } : wanted;
  const lacking = unsupportedBy(model, asked);
  if (!lacking) return;
  const able = targetsOfPort(capability, connections).filter(
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
  const ownServer = (provider.modelsFrom && OF_OWN_SERVERS[lacking.field]) || "";
  refuseUnsupported(
    lacking.field,
    `${routeKey({ provider, model })} does not support ${lacking.what}.${instead}${ownServer}`,
  );
}

/** Refuses model options, and a required model or provider, for work that runs here without a model. */
export function refuseModelWords(capability: Capability, wanted: RoutingRequest) {
  const lacking = unsupportedBy({ supports: {} }, wanted);
  if (lacking)
    refuseUnsupported(
      lacking.field,
      `${capability.key} runs without a model and does not support ${lacking.what}. Leave it out.`,
    );
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  if (wanted.pin || providerPin || (preferredModel && !autoSelect))
    routeUnavailable([], { pin: wanted.pin?.target, providerPin, preferredModel });
}
