import type { Json } from "@/server/platform/durable/step";

/** Whether a value is a JSON object, not a list and not null. */
export function isObject(value: Json | undefined): value is Record<string, Json>;
export function isObject(value: unknown): value is Record<string, unknown>;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Plain data as JSON: its members are JSON values or undefined, which is left out. The types of rows and answers do not say so. */
export const plainJson = (value: object | null) => value as Json;
/** Likewise, where only an object will do. */
export const plainObject = (value: object) => value as Record<string, Json>;
