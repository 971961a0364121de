import { z } from "zod";

/*
 * The schema of a tool's arguments as clients list it. Two kinds of client are strict. OpenAI's strict mode wants every object
 * closed and every property required, so what may be left out may be null. Gemini's schemas know few words: no references,
 * no `const`, and no `additionalProperties`. Both at once cannot be had for that last word: a tool that can be strict has it,
 * and a tool that cannot, because it takes an object of any fields, does without. What is not said here is held all the same:
 * lengths and defaults are checked and filled in where the call is parsed.
 */

type Schema = z.core.JSONSchema.BaseSchema;

/** Words that are passed on as they are: both kinds of client know them. */
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

/** The arguments of a tool; `isStrict` where no object in them is open. */
export function listedInput(input: z.ZodObject): { schema: Schema; isStrict: boolean } {
  const made = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const isStrict = !isOpen(made, made.$defs);
  return { schema: listed(made, made.$defs, isStrict), isStrict };
}

/** Null says that an argument is not given, as strict clients have to. */
export function withoutNulls(given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

type Definitions = Schema["$defs"];

function resolved({ $ref, ...own }: Schema, defs: Definitions): Schema {
  const named = $ref === undefined ? undefined : defs?.[$ref.replace("#/$defs/", "")];
  return named ? { ...(named as Schema), ...own } : own;
}

const partsOf = ({ properties = {}, anyOf = [], items }: Schema) =>
  [...Object.values(properties), ...anyOf, ...(items ? [items] : [])] as Schema[];

/** Does it take an object of any fields? */
function isOpen(schema: Schema, defs: Definitions): boolean {
  const whole = resolved(schema, defs);
  if (whole.type === "object" && whole.additionalProperties !== false) return true;
  return partsOf(whole).some((part) => isOpen(part, defs));
}

function listed(schema: Schema, defs: Definitions, isStrict: boolean): Schema {
  const whole = resolved(schema, defs);
  const inner = (part: unknown) => listed(part as Schema, defs, isStrict); // no schema of ours is a boolean
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
    const all = isStrict ? named.map(([name]) => name) : required;
    if (all.length > 0) out.required = all;
  }
  if (isStrict && whole.type === "object") out.additionalProperties = false;
  return out;
}

function orNull({ description, ...field }: Schema): Schema {
  if (field.anyOf?.some((part) => typeof part === "object" && part.type === "null"))
    return { ...(description ? { description } : {}), ...field };
  return { ...(description ? { description } : {}), anyOf: [field, NULL] };
}
