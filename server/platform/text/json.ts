import type { Json } from "@/server/platform/durable/step";

/** True for a JSON object, but not for a list or null. */
export function isObject(value: Json | undefined): value is Record<string, Json>;
export function isObject(value: unknown): value is Record<string, unknown>;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Treats plain data as JSON. The cast is safe because its members are JSON values or undefined, which is left out; the types of
 * rows and answers do not say so.
 */
export const plainJson = (value: object | null) => value as Json;
/** `plainJson` for values that must be objects. */
export const plainObject = (value: object) => value as Record<string, Json>;

/** True if the JSON text of a value, without its escapes, is longer than about `most` characters. Reads the value no further. */
export const isLongerThan = (value: unknown, most: number): boolean => roomAfter(value, most) < 0;

/** About how many characters are left after this value; negative if the value does not fit. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (typeof value !== "object" || value === null) return room - String(value).length;
  let left = room - 1;
  if (Array.isArray(value))
    for (let at = 0; at < value.length && left >= 0; at++) left = roomAfter(value[at], left - 1);
  else
    for (const key in value) {
      if (left < 0) break;
      left = roomAfter((value as Record<string, unknown>)[key], left - key.length - 4);
    }
  return left;
}
