import { z } from "zod";

export const DateTime = z.iso.datetime({ offset: true });

/**
 * Any JSON. The OpenAPI document publishes it as any value, because the types that generators derive from a recursive
 * schema do not compile.
 */
export const JsonValue = z
  .json()
  .register(z.globalRegistry, { id: "JsonValue", description: "Any JSON value." });

/**
 * Any JSON, not validated: bodies come from a JSON parser, and a walk would cost as much as all other checks. The cast
 * is safe for such bodies.
 */
export const AnyJson = z.unknown() as z.ZodType as z.ZodType<z.core.util.JSONType, z.core.util.JSONType>;

export type JsonObject = Record<string, z.core.util.JSONType>;
/** A JSON object whose values are not validated either. */
export const JsonObject: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), AnyJson);

export const Money = z
  .object({
    amountMicros: z.int(),
    currency: z.string(),
    amountMinor: z.int(),
    display: z.string(),
  })
  .meta({ id: "Money", description: "An amount of money. `amountMicros` is authoritative." });
export type Money = z.output<typeof Money>;

const KeyText = z.string().max(255);
/** A key in a request body; the same schema in every operation that accepts one. A blank key counts as none. */
export const IdempotencyKey = KeyText.nullish();
/** A key to search for, trimmed as it was on admission. A blank one is refused, because it would match everything. */
export const SoughtKey = KeyText.trim().min(1);

export const BillingMode = z.enum(["byok", "managed"]);
export type BillingMode = z.output<typeof BillingMode>;

/**
 * A constant that other services with this interface spell with another prefix. Their spelling is accepted as well, so
 * that their clients work; the documents name only ours.
 */
export const branded = <Schema extends z.ZodType>(ending: RegExp, ours: string, schema: Schema) =>
  z.preprocess((given) => (typeof given === "string" && ending.test(given) ? ours : given), schema);

/** An id in a path. It can be as long as a URL, because an unknown id is answered with 404 whatever its length. */
export const PathId = z.string().min(1).max(16_384);

/** A sentence on lists whose filters no index serves. */
export const SHORT_PAGES =
  "A page whose filters match little may have fewer items than `limit`, or none, although more follow: continue while there is a `nextCursor`.";

/** A boolean in a query string. It is published as a boolean because the panel sends one. */
export const queryFlag = z
  .preprocess(
    (given) => (typeof given === "boolean" ? String(given) : given),
    z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }),
  )
  .meta({ type: "boolean" });

/** An integer in a query string, in decimal digits. */
export const wholeNumber = (min: number, max: number) =>
  z.preprocess(
    (given) => (typeof given === "string" && /^-?\d+$/.test(given) ? Number(given) : given),
    z.number().int().min(min).max(max),
  );

/** The `limit` of a page. */
export const pageLimit = (max: number, fallback: number) => wholeNumber(1, max).default(fallback);

/** The project of a request, as a query parameter; keys that are bound to a project can leave it out. */
export const InProject = z.object({ projectId: z.string().min(1).max(64).optional() });
