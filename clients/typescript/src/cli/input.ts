import { readFile } from "node:fs/promises";
import { UsageError } from "./terminal";

/** The text of a file, or of standard input for `-`. */
export async function readInput(place: string): Promise<string> {
  try {
    if (place !== "-") return await readFile(place, "utf8");
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    throw new UsageError(`Cannot read ${place}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A JSON object, given as text, in a file, or on standard input. */
export async function readObject(given: string): Promise<Record<string, unknown>> {
  const isWritten = given.trimStart().startsWith("{");
  const text = isWritten ? given : await readInput(given);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>; // the check above ensures an object
  } catch (error) {
    throw new UsageError(
      `--input is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  throw new UsageError("--input must be a JSON object.");
}

/** An option's value as a number above zero. */
export function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${name} must be a number above 0.`);
}
