import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Json } from "@/server/platform/durable/step";
import {
  checkStructure,
  DRAFT_7,
  DRAFT_2020,
  type JsonSchema,
  type SchemaDraft,
  type SchemaProblem,
  schemaDraft,
  toMatcher,
} from "./check";

/* Runs on a worker thread only, because schemas of callers become code here. */

/** A misfit: its place as a JSON Pointer, the keyword and a message. Only the keyword quotes nothing of the value. */
export type Misfit = { at: string; keyword: string; message: string };

const MOST_MISFITS = 20;
const MOST_LETTERS = 300;

const OPTIONS: Options = {
  // Unknown keywords and formats are ignored: they are notes for people.
  strict: false,
  logger: false,
  validateFormats: false,
  allErrors: true,
  // Inherited properties do not count.
  ownProperties: true,
  messages: true,
  code: { regExp: Object.assign((pattern: string) => toMatcher(pattern), { code: "undefined" }) },
};

const ENGINES = { [DRAFT_7]: Ajv, [DRAFT_2020]: Ajv2020 };
/** Engines that validate schemas against their draft; a caller's schema is never added to them. */
const metas: Record<SchemaDraft, Ajv> = { [DRAFT_7]: new Ajv(OPTIONS), [DRAFT_2020]: new Ajv2020(OPTIONS) };

/** Compiles a schema. Returns its first problem, or a function that lists the misfits of a value. */
export function compile(schema: JsonSchema): SchemaProblem | { fits(value: Json): Misfit[] } {
  const problem = checkStructure(schema);
  if (problem) return problem;
  const draft = schemaDraft(schema)!; // checkStructure refuses other drafts
  const { $schema: _, ...plain } = schema;
  const meta = metas[draft];
  if (!meta.validateSchema(plain)) {
    const [error] = meta.errors ?? [];
    return {
      path: pathOf(error?.instancePath ?? ""),
      message: `It ${error?.message ?? "is not a JSON Schema"}.`,
    };
  }
  try {
    const engine = new ENGINES[draft]({ ...OPTIONS, meta: false, validateSchema: false });
    const validate = engine.compile(plain);
    return {
      fits: (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, MOST_MISFITS).map(toMisfit)),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it is not a JSON Schema";
    return { path: [], message: `The schema cannot be compiled: ${cut(reason)}` };
  }
}

const cut = (text: string) => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text);

function toMisfit({ instancePath, keyword, message, params }: ErrorObject): Misfit {
  const more =
    typeof params.additionalProperty === "string"
      ? ` ("${params.additionalProperty}")`
      : Array.isArray(params.allowedValues)
        ? `: ${JSON.stringify(params.allowedValues)}`
        : "allowedValue" in params
          ? `: ${JSON.stringify(params.allowedValue)}`
          : "";
  return { at: instancePath, keyword, message: cut(`${message ?? "does not fit"}${more}`) };
}

/** Converts a JSON Pointer to a path. */
const pathOf = (pointer: string): (string | number)[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
