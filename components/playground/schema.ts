/** The subset of JSON Schema that published inputs use. */
export type InputSchema = {
  $ref?: string;
  $defs?: Record<string, InputSchema>;
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: InputSchema[];
  oneOf?: InputSchema[];
  allOf?: InputSchema[];
  properties?: Record<string, InputSchema>;
  required?: string[];
  additionalProperties?: boolean | InputSchema;
  items?: InputSchema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
};

/** A capability's input as it is edited. */
export type Input = Record<string, unknown>;

export type Path = (string | number)[];

/** How a value is edited: the kind of control, with the parts of the schema that the control needs. */
export type Field =
  | { kind: "text"; long: boolean; schema: InputSchema }
  | { kind: "number"; integer: boolean; schema: InputSchema }
  | { kind: "choice"; options: unknown[]; schema: InputSchema }
  | { kind: "switch"; schema: InputSchema }
  | { kind: "object"; schema: InputSchema }
  | { kind: "list"; items: InputSchema; schema: InputSchema }
  | { kind: "artifact"; schema: InputSchema }
  | { kind: "file"; schema: InputSchema }
  | { kind: "variants"; variants: InputSchema[]; schema: InputSchema }
  | { kind: "json"; schema: InputSchema };

/** A schema with references resolved, and without the null that only means "absent". */
export function settle(schema: InputSchema, root: InputSchema): InputSchema {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    const { $ref: _, ...beside } = schema;
    return settle({ ...(root.$defs?.[name] ?? {}), ...beside }, root);
  }
  const { allOf, ...rest } = schema;
  if (allOf?.length === 1 && allOf[0]) return settle({ ...allOf[0], ...rest }, root);
  const variants = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== "null");
  if (variants?.length === 1 && variants[0]) {
    const { anyOf: _any, oneOf: _one, ...beside } = schema;
    return settle({ ...variants[0], ...beside }, root);
  }
  return schema;
}

const LONG = 200;

/** The field kind for a schema and name. */
export function fieldOf(name: string, given: InputSchema, root: InputSchema): Field {
  const schema = settle(given, root);
  const variants = (schema.anyOf ?? schema.oneOf)
    ?.filter(({ type }) => type !== "null")
    .map((variant) => settle(variant, root));
  if (schema.enum) return { kind: "choice", options: schema.enum, schema };
  if (schema.const !== undefined) return { kind: "choice", options: [schema.const], schema };
  if (variants) {
    if (variants.every((each) => each.const !== undefined))
      return { kind: "choice", options: variants.map((each) => each.const), schema };
    return variants.every(isDrawable) ? { kind: "variants", variants, schema } : { kind: "json", schema };
  }
  switch (schema.type) {
    case "string":
      if (/artifactIds?$/i.test(name)) return { kind: "artifact", schema };
      if (/^data$|base64$/i.test(name)) return { kind: "file", schema };
      return {
        kind: "text",
        long: schema.maxLength === undefined ? isProse(name) : schema.maxLength > LONG && !isId(name),
        schema,
      };
    case "integer":
    case "number":
      return { kind: "number", integer: schema.type === "integer", schema };
    case "boolean":
      return { kind: "switch", schema };
    case "array":
      return schema.items
        ? { kind: "list", items: settle(schema.items, root), schema }
        : { kind: "json", schema };
    case "object":
      return schema.properties && Object.keys(schema.properties).length > 0
        ? { kind: "object", schema }
        : { kind: "json", schema };
    default:
      return { kind: "json", schema };
  }
}

const isDrawable = (schema: InputSchema) =>
  ["string", "integer", "number", "boolean", "array", "object"].includes(schema.type ?? "") ||
  schema.const !== undefined ||
  schema.enum !== undefined;

const isId = (name: string) => /(id|model|locale|language|format|name|pin|ref)$/i.test(name);
const isProse = (name: string) =>
  /^(content|prompt|text|document|instructions|expression|context|texturePrompt|resolvedPrompt|question)$/i.test(
    name,
  );

/** `maxOutputTokens` → "Max output tokens". */
export function fieldLabel(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase()
    .replace(/\bids\b/g, "ids")
    .replace(/\bid\b/g, "id");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The singular of a list's name, for its entries. */
export const singularOf = (name: string) => name.replace(/ies$/, "y").replace(/s$/, "");

/** A field's bounds in words, for its hint. */
export function boundsOf(schema: InputSchema): string | null {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, default: preset } = schema;
  const safe = (value: number | undefined) =>
    value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER
      ? undefined
      : value.toLocaleString("en-US");
  const range = (from: number | undefined, to: number | undefined, unit: string) => {
    const [least, most] = [safe(from), safe(to)];
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
    if (most !== undefined) return `at most ${most}${unit}`;
    return least !== undefined && from !== 0 && from !== 1 ? `at least ${least}${unit}` : null;
  };
  const parts = [
    range(minimum, maximum, ""),
    maxLength !== undefined && maxLength < 1_000_000
      ? range(undefined, maxLength, " characters")
      : range(minLength, undefined, " characters"),
    range(minItems, maxItems, " entries"),
    preset === undefined || typeof preset === "object" ? null : `default ${JSON.stringify(preset)}`,
  ].filter(Boolean);
  return parts.length ? parts.join("; ") : null;
}

/** The initial value of a newly added field: the schema's default, or else a minimal value. */
export function blankOf(schema: InputSchema, root: InputSchema): unknown {
  const settled = settle(schema, root);
  if (settled.default !== undefined) return structuredClone(settled.default);
  if (settled.const !== undefined) return settled.const;
  if (settled.enum) return settled.enum[0];
  const [variant] = settled.anyOf ?? settled.oneOf ?? [];
  if (variant) return blankOf(variant, root);
  switch (settled.type) {
    case "object":
      return Object.fromEntries(
        (settled.required ?? []).map((name) => [name, blankOf(settled.properties?.[name] ?? {}, root)]),
      );
    case "array":
      return Array.from({ length: settled.minItems ?? 0 }, () => blankOf(settled.items ?? {}, root));
    case "number":
    case "integer":
      return settled.minimum && Math.abs(settled.minimum) < Number.MAX_SAFE_INTEGER ? settled.minimum : 0;
    case "boolean":
      return false;
    case "string":
      return "";
    default:
      return {};
  }
}

/** The index of the variant that fits a value; 0 if none does. */
export function variantOf(value: unknown, variants: InputSchema[]): number {
  const found = variants.findIndex((schema) => fits(value, schema));
  return Math.max(found, 0);
}

function fits(value: unknown, schema: InputSchema): boolean {
  if (schema.const !== undefined) return value === schema.const;
  if (schema.enum) return schema.enum.includes(value);
  switch (schema.type) {
    case "array":
      return Array.isArray(value);
    case "object":
      return (
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        Object.entries(schema.properties ?? {}).every(([name, each]) => {
          const own = (value as Record<string, unknown>)[name];
          return each.const === undefined
            ? !(schema.required ?? []).includes(name) || own !== undefined
            : own === each.const;
        })
      );
    case "integer":
    case "number":
      return typeof value === "number";
    default:
      return typeof value === schema.type;
  }
}

/** A variant's name, from what distinguishes it. */
export function variantName(schema: InputSchema): string {
  const constant = Object.values(schema.properties ?? {}).find((each) => each.const !== undefined)?.const;
  if (typeof constant === "string") return fieldLabel(constant);
  if (schema.title) return schema.title;
  if (schema.const !== undefined) return String(schema.const);
  if (schema.type === "object") return fieldLabel(schema.required?.[0] ?? "object");
  return (
    { string: "Text", array: "Parts", number: "Number", integer: "Number", boolean: "Yes or no" }[
      schema.type ?? ""
    ] ?? "Value"
  );
}

/** A copy with another value at this path. Undefined removes a member of an object, and stays as an entry of a list. */
export function withValue(whole: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list = Array.isArray(whole) ? [...whole] : [];
    list[step] = withValue(list[step], rest, value);
    return list;
  }
  const object: Record<string, unknown> = { ...(whole as Record<string, unknown> | undefined) };
  const next = withValue(object[step], rest, value);
  if (next === undefined) delete object[step];
  else object[step] = next;
  return object;
}

export const pathId = (path: Path) => `field-${path.join("-") || "input"}`;
