import { z } from "zod";
import { isObject } from "@/server/platform/text/json";

/*
 * A tool's arguments as clients list them. Optional fields are not required, because clients such as LangChain's check
 * a call against the list before they send it. OpenAI's strict mode needs closed objects whose properties are all
 * required; that dialect is derived for clients that request it. Gemini supports no references, no `const` and no
 * `additionalProperties`; only the last is used, because strict mode needs it. The call's own schema is applied when it
 * is parsed.
 */

type Schema = z.core.JSONSchema.BaseSchema;

/** Keywords that are passed through, because both kinds of client support them. */
const KNOWN = [
  "type",
  "description",
  "enum",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
] as const;
const NULL: Schema = { type: "null" };

/** The schema of a tool's arguments. `isStrict` is true if no object in the schema is open. */
export function listedInput(input: z.ZodObject): { schema: Schema; isStrict: boolean } {
  const made = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const isStrict = !isOpen(made, made.$defs);
  return { schema: listed(made, made.$defs, isStrict), isStrict };
}

/** A closed schema in the dialect of OpenAI's strict mode: every property is required, and an optional one may be null. */
export function strictInput(schema: Schema): Schema {
  const derived: Schema = { ...schema };
  if (schema.anyOf) derived.anyOf = schema.anyOf.map((part) => strictInput(part as Schema));
  if (schema.items) derived.items = strictInput(schema.items as Schema);
  if (schema.properties) {
    const named = Object.entries(schema.properties);
    derived.properties = Object.fromEntries(named.map(([name, part]) => [name, strictInput(part as Schema)]));
    derived.required = named.map(([name]) => name);
  }
  return derived;
}

/**
 * Removes an object's null fields, with which strict clients mark arguments that are not given. Leaves nested fields as
 * they are.
 */
export function withoutNulls(given: unknown): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

type Definitions = Schema["$defs"];

function resolved({ $ref, ...own }: Schema, defs: Definitions): Schema {
  const named = $ref === undefined ? undefined : defs?.[$ref.replace("#/$defs/", "")];
  return named ? { ...named, ...own } : own;
}

const partsOf = ({ properties = {}, anyOf = [], items }: Schema) =>
  [...Object.values(properties), ...anyOf, ...(items ? [items] : [])] as Schema[];

/** True if the schema accepts an object of any fields. */
function isOpen(schema: Schema, defs: Definitions): boolean {
  const whole = resolved(schema, defs);
  if (whole.type === "object" && whole.additionalProperties !== false) return true;
  return partsOf(whole).some((part) => isOpen(part, defs));
}

function listed(schema: Schema, defs: Definitions, isStrict: boolean): Schema {
  const whole = resolved(schema, defs);
  const inner = (part: unknown) => listed(part as Schema, defs, isStrict); // none of our schemas is a boolean
  if (Array.isArray(whole.type)) {
    const { type: types, description, ...rest } = whole;
    const anyOf = types.map((type) => inner(type === "null" ? NULL : { ...rest, type }));
    return { ...(description ? { description } : {}), anyOf };
  }
  const out: Schema = Object.fromEntries(
    KNOWN.flatMap((word) => (whole[word] === undefined ? [] : [[word, whole[word]]])),
  );
  if (whole.const !== undefined) out.enum = [whole.const];
  if (whole.anyOf) out.anyOf = whole.anyOf.map(inner);
  if (whole.items) out.items = inner(whole.items);
  if (whole.properties) {
    const { required = [] } = whole;
    const named = Object.entries(whole.properties);
    out.properties = Object.fromEntries(
      named.map(([name, part]) => {
        const field = inner(part);
        return [name, isStrict && !required.includes(name) ? orNull(field) : field];
      }),
    );
    if (required.length > 0) out.required = required;
  }
  if (isStrict && whole.type === "object") out.additionalProperties = false;
  return out;
}

function orNull({ description, ...field }: Schema): Schema {
  if (field.anyOf?.some((part) => typeof part === "object" && part.type === "null"))
    return { ...(description ? { description } : {}), ...field };
  return { ...(description ? { description } : {}), anyOf: [field, NULL] };
}
