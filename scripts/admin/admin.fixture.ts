import { expect } from "vitest";
import { runAdmin } from "./command";

/** Returns the JSON of an admin command; fails if the command is refused. */
export async function admin(...args: string[]) {
  const { code, out, error } = await runAdmin([...args, "--json"]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out);
}
