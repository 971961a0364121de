import { z } from "zod";

/* The text fields of a request, found in its schema, and the smallest valid value that contains a given field. */

type Node = {
  $ref?: string;
  $defs?: Record<string, Node>;
  type?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  minLength?: number;
  anyOf?: Node[];
  oneOf?: Node[];
  allOf?: Node[];
  properties?: Record<string, Node>;
  required?: string[];
  items?: Node;
  minItems?: number;
  additionalProperties?: Node | boolean;
};

/** The name of a field; 0 is the first item of a list, and `*` any name. */
export type Step = string | 0;
export type Place = {
  steps: Step[];
  /** The field's name in snake case; for any name, that of the enclosing field and `.*`. */
  name: string;
};

const DEEPEST = 9;
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function nameOf(steps: Step[]): string {
  const named = steps.filter((step): step is string => step !== 0);
  const last = named.at(-1) ?? "*";
  return snake(last === "*" ? `${named.at(-2) ?? ""}.*` : last);
}

export function toNode(schema: z.ZodType): Node {
  const node = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Node; // the JSON Schema that documents the schema
  // A named schema is in the definitions.
  const named = node.$ref ? node.$defs?.[node.$ref.split("/").at(-1) ?? ""] : undefined;
  return named ? { ...named, $defs: node.$defs } : node;
}

const choicesOf = ({ anyOf, oneOf }: Node) => [...(anyOf ?? []), ...(oneOf ?? [])];
const branchesOf = (node: Node) => [...choicesOf(node), ...(node.allOf ?? [])];
const isAnything = (node: Node) =>
  node.type === undefined &&
  node.enum === undefined &&
  node.const === undefined &&
  branchesOf(node).length === 0;

function followed(node: Node, defs: Record<string, Node>): Node {
  return node.$ref ? (defs[node.$ref.split("/").at(-1) ?? ""] ?? {}) : node;
}

/** Every field of this schema that accepts free text, down to `DEEPEST` levels. */
export function placesOf(root: Node): Place[] {
  const found = new Map<string, Place>();
  const walk = (given: Node, steps: Step[], within: string[] = []): void => {
    if (steps.length > DEEPEST) return;
    if (given.$ref) {
      if (within.includes(given.$ref)) return; // a recursive schema, such as any JSON
      within = [...within, given.$ref];
    }
    const node = followed(given, root.$defs ?? {});
    for (const branch of branchesOf(node)) walk(branch, steps, within);
    for (const [name, field] of Object.entries(node.properties ?? {})) walk(field, [...steps, name], within);
    if (node.items) walk(node.items, [...steps, 0], within);
    if (typeof node.additionalProperties === "object")
      walk(node.additionalProperties, [...steps, "*"], within);
    const isText = node.type === "string" && !node.enum && node.const === undefined;
    if (isText || isAnything(node)) found.set(steps.join("."), { steps, name: nameOf(steps) });
  };
  walk(root, []);
  return [...found.values()];
}

/** Returns the value of a text field that must be filled, by its name in snake case. */
export type Known = (name: string) => unknown;

/** The smallest value of this schema with `value` at this place; members of `base` are kept. */
export function filled(
  root: Node,
  base: unknown,
  known: Known,
  place?: { steps: Step[]; value: unknown },
): unknown {
  const make = (given: Node, base: unknown, steps: Step[] | null, at: string): unknown => {
    const node = followed(given, root.$defs ?? {});
    if (steps?.length === 0) return place?.value;
    if (node.allOf) {
      const { allOf, ...rest } = node;
      return [rest, ...allOf].reduce<object>(
        (made, each) => Object.assign(made, make(each, made, steps && leads(each, steps) ? steps : null, at)),
        { ...(base as object | undefined) },
      );
    }
    const choices = choicesOf(node).filter(({ type }) => type !== "null");
    if (choices.length > 0) {
      const way = steps ? choices.find((choice) => leads(choice, steps)) : undefined;
      return make(way ?? choices[0]!, way ? fitting(way, base) : base, way ? steps : null, at);
    }
    if (node.const !== undefined) return base ?? node.const;
    if (node.enum) return base ?? node.enum[0];
    if (node.type === "object" || node.properties) {
      const made: Record<string, unknown> = { ...(base as object | undefined) };
      for (const name of node.required ?? [])
        if (!(name in made)) made[name] = make(node.properties?.[name] ?? {}, undefined, null, snake(name));
      const [step, ...rest] = steps ?? [];
      if (typeof step === "string") {
        const name = step === "*" ? "name" : step;
        const { additionalProperties: any } = node;
        const field = node.properties?.[step] ?? (typeof any === "object" ? any : {});
        made[name] = make(field, made[name], rest, snake(step));
      }
      return made;
    }
    if (node.type === "array") {
      const made = [...((base as unknown[] | undefined) ?? [])];
      if (made.length === 0 && node.minItems) made[0] = make(node.items ?? {}, undefined, null, at);
      if (steps?.[0] === 0) made[0] = make(node.items ?? {}, made[0], steps.slice(1), at);
      return made;
    }
    if (base !== undefined) return base;
    if (node.type === "boolean") return false;
    if (node.type === "integer" || node.type === "number") return Math.max(1, node.minimum ?? 1);
    return known(at);
  };
  /** The members of `base` that this alternative accepts. */
  const fitting = (given: Node, base: unknown): unknown => {
    const { properties, additionalProperties } = followed(given, root.$defs ?? {});
    if (!properties || additionalProperties !== false || typeof base !== "object" || !base) return base;
    return Object.fromEntries(Object.entries(base).filter(([name]) => name in properties));
  };
  const leads = (given: Node, steps: Step[]): boolean => {
    const node = followed(given, root.$defs ?? {});
    const [step, ...rest] = steps;
    if (step === undefined) return true;
    if (branchesOf(node).some((branch) => leads(branch, steps))) return true;
    if (step === 0) return node.items !== undefined && leads(node.items, rest);
    const field = node.properties?.[step];
    if (field) return leads(field, rest);
    return step === "*" && typeof node.additionalProperties === "object";
  };
  return make(root, base, place?.steps ?? null, "");
}
