import type { JsonObject } from "@/server/contract/common";

/*
 * Functions that read values without a known schema, such as requests and outputs. zod would do the same, but weighs more
 * than a page.
 */

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of a value; undefined if the value is not an object or lacks the member. */
export const memberOf = (value: unknown, name: string): unknown =>
  isJsonObject(value) ? value[name] : undefined;

/** A member that is text; undefined for anything else. */
export function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : undefined;
}
