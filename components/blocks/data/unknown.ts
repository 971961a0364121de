import type { JsonObject } from "@/server/contract/common";

/*
 * Reading values whose form is known only to who wrote them, such as requests and outputs. Schemas would do the same, but
 * zod weighs more than a page.
 */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of a value, where the value is an object that has it. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? value[name] : undefined;

/** The same where the member is text. */
export function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : undefined;
}
