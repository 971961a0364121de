import { z } from "zod";
import { ValidationFault } from "@/server/platform/errors/errors";
import { toValidationIssues } from "@/server/platform/errors/errors-wire";

/**
 * Includes the rejected values in issues, which distinguishes a missing field from a wrong one. The values are never sent
 * back.
 */
const REPORT = { reportInput: true } as const;

/** Parses one part of a request. Throws a ValidationFault with all its errors. */
export function parsePart<S extends z.ZodType>(
  schema: S,
  value: unknown,
  where: "body" | "query" | "path",
): z.output<S> {
  const parsed = schema.safeParse(value, REPORT);
  if (parsed.success) return parsed.data;
  throw new ValidationFault(toValidationIssues(parsed.error.issues, where));
}

export type QueryField = { name: string; isList: boolean };

/** The fields of a query schema, and which of them may be repeated. */
export function queryFieldsOf(schema: z.ZodObject): QueryField[] {
  return Object.entries(schema.shape).map(([name, field]) => ({ name, isList: isList(field) }));
}

function isList(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodArray) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return isList(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return isList(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return isList(schema.def.in);
  return false;
}

/**
 * The known fields of a query as plain values. A single-valued field given twice and a value with U+0000 are refused;
 * unknown fields are ignored.
 */
export function readQuery(query: URLSearchParams, fields: readonly QueryField[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (query.size === 0) return values;
  for (const { name, isList } of fields) {
    const given = query.getAll(name);
    if (given.length === 0) continue;
    if (given.some(hasNul)) {
      throw new ValidationFault([
        { loc: ["query", name], msg: "The character U+0000 is not allowed.", type: "nul_character" },
      ]);
    }
    if (isList) values[name] = given;
    else if (given.length === 1) values[name] = given[0];
    else
      throw new ValidationFault([
        { loc: ["query", name], msg: "Send this parameter only once.", type: "repeated" },
      ]);
  }
  return values;
}

/** The most names in the header about an ignored query, and the most characters of each. */
const [MOST_NAMES, MOST_CHARACTERS] = [20, 64];

/**
 * The query parameters that changed nothing, for the header `x-capstan-ignored-query`: unknown ones, and those whose value
 * the schema ignored (`view=nonsense`). Null if there are none.
 */
export function ignoredNames(query: URLSearchParams, parsed: object | undefined): string | null {
  if (query.size === 0) return null;
  const used: Record<string, unknown> = { ...parsed };
  const names = [...new Set(query.keys())].filter((name) => used[name] === undefined);
  const shown = names.slice(0, MOST_NAMES).map((name) => encodeURIComponent(name).slice(0, MOST_CHARACTERS));
  return shown.length > 0 ? shown.join(", ") : null;
}

/** Refuses a path parameter with U+0000: no id, key or name has this character, and the database would reject it. */
export function refuseHostileParams(params: Record<string, string>): void {
  for (const name in params) {
    if (hasNul(params[name]!)) {
      throw new ValidationFault([
        { loc: ["path", name], msg: "The character U+0000 is not allowed.", type: "nul_character" },
      ]);
    }
  }
}

const hasNul = (text: string) => text.includes("\0");
