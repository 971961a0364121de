import { z } from "zod";

export const DateTime = z.iso.datetime({ offset: true });

/** Any JSON. The OpenAPI document publishes it as any value: types that generators make of a recursive schema do not compile. */
export const JsonValue = z
  .json()
  .register(z.globalRegistry, { id: "JsonValue", description: "Any JSON value." });

/** Any JSON. It is not walked: bodies come from a JSON parser, and a walk costs as much as the rest. */
export const AnyJson = z.unknown() as z.ZodType as z.ZodType<z.core.util.JSONType, z.core.util.JSONType>;

export type JsonObject = Record<string, z.core.util.JSONType>;
/** An object of any JSON. Its values are not walked either. */
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
/** A key in a body, at every door that takes one; a blank one is none. */
export const IdempotencyKey = KeyText.nullish();
/** A key to look for, without the blanks around it, as it was admitted. A blank one is refused: it would find everything. */
export const SoughtKey = KeyText.trim().min(1);

export const BillingMode = z.enum(["byok", "managed"]);
export type BillingMode = z.output<typeof BillingMode>;

/**
 * A constant of ours. Other services of this interface have their own in its place, with the same ending; clients written for
 * them are understood, and the documents name only ours.
 */
export const branded = <Schema extends z.ZodType>(ending: RegExp, ours: string, schema: Schema) =>
  z.preprocess((given) => (typeof given === "string" && ending.test(given) ? ours : given), schema);

/** An id in a path: any text an address has room for, since one that no one has is not found, however long it is. */
export const PathId = z.string().min(1).max(16_384);

/** Yes or no, in a query string; published as the boolean it means, which the panel sends. */
export const queryFlag = z
  .preprocess(
    (given) => (typeof given === "boolean" ? String(given) : given),
    z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }),
  )
  .meta({ type: "boolean" });

/** A whole number, in a query string as decimal digits. */
export const wholeNumber = (min: number, max: number) =>
  z.preprocess(
    (given) => (typeof given === "string" && /^-?\d+$/.test(given) ? Number(given) : given),
    z.number().int().min(min).max(max),
  );

/** `limit` of a page. */
export const pageLimit = (max: number, fallback: number) => wholeNumber(1, max).default(fallback);

/** The project of a request, in its query; not needed with a key that is bound to one. */
export const InProject = z.object({ projectId: z.string().min(1).max(64).optional() });
