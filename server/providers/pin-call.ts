import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import type { ModelFacts } from "./define";
import { type PinCall, PinRefusal } from "./pins";

/*
 * Turns a pinned request into a vendor's body: places its members, changes spellings, and refuses fields that the
 * interface does not have.
 */

/** An interface's names for sampling fields, nested ones as paths. Fields that it does not have are missing. */
export type SamplingMembers = Partial<Record<keyof PinCall["sampling"], string>>;

/**
 * The body's members for the sampling, with the values as given. Throws PinRefusal for a field that the interface does
 * not have.
 */
export function placeSampling({ sampling }: PinCall, members: SamplingMembers): Record<string, Json> {
  const body: Record<string, Json> = {};
  for (const [field, value] of Object.entries(sampling) as [keyof SamplingMembers, Json | undefined][]) {
    if (value === undefined) continue;
    const path = members[field]?.split(".");
    if (!path) throw new PinRefusal(["sampling", field], "This interface has no such setting. Leave it out.");
    place(body, path, value);
  }
  return body;
}

function place(body: Record<string, Json>, [first = "", ...rest]: string[], value: Json): void {
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = body[first];
  const within = isObject(inner) ? inner : {};
  body[first] = within;
  place(within, rest, value);
}

export type Feature = keyof ModelFacts["supports"];

const FEATURES: { [F in keyof PinCall["sampling"]]?: Feature } = {
  temperature: "temperature",
  topP: "temperature",
  topK: "temperature",
  reasoningEffort: "reasoning",
  thinking: "reasoning",
  thinkingBudgetTokens: "reasoning",
};

/**
 * Throws PinRefusal for a feature that the model is known not to support. `unknown` lists features that pass, because
 * the provider does not know which of its models support them.
 */
export function requireOfModel(call: PinCall, { id, supports }: ModelFacts, unknown: Feature[] = []): void {
  const refuse = (...field: string[]) => {
    throw new PinRefusal(field, `The model ${id} does not support this setting. Leave it out.`);
  };
  for (const [field, feature] of Object.entries(FEATURES)) {
    const isAsked = call.sampling[field as keyof PinCall["sampling"]] !== undefined; // keys of the table above
    if (isAsked && !supports[feature] && !unknown.includes(feature)) refuse("sampling", field);
  }
  if (call.tools && !supports.tools) refuse("tools");
  const { type = "text" } = call.responseFormat ?? {};
  if (type === "json_object" && !supports.jsonObject) refuse("responseFormat");
  if (type === "json_schema" && !supports.jsonSchema) refuse("responseFormat");
}

type FunctionTool = Record<string, Json> & { name: string };

/**
 * Function tools in either common spelling, flat or inside `function`, respelled for the vendor; other members stay as
 * given. Throws PinRefusal for a vendor's own tools, because their price is not per token.
 */
export function respellTools(
  { tools }: PinCall,
  spell: (tool: FunctionTool) => Record<string, Json>,
): Record<string, Json>[] | undefined {
  return tools?.map((tool, place) => {
    const spec = withoutWrapping(tool);
    if (!spec || !isNamed(spec))
      throw new PinRefusal(["tools", place], "A pin supports only function tools with a name.");
    return spell(spec);
  });
}

const isNamed = (spec: Record<string, Json>): spec is FunctionTool => typeof spec.name === "string";

function withoutWrapping(given: Record<string, Json>): Record<string, Json> | null {
  const { type = "function", function: inner, ...flat } = given;
  if (type !== "function") return null;
  if (inner === undefined) return flat;
  return isObject(inner) ? { ...flat, ...inner } : null;
}

/** The choice of one function, in either common spelling, respelled for the vendor; any other choice stays as given. */
export function respellChoice({ toolChoice }: PinCall, spell: (name: string) => Json): Json | undefined {
  const spec = isObject(toolChoice) ? withoutWrapping(toolChoice) : null;
  return spec && isNamed(spec) && Object.keys(spec).length === 1 ? spell(spec.name) : toolChoice;
}
