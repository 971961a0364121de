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
