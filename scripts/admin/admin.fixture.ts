import { expect } from "vitest";
import { runAdmin } from "./command";

/** What an admin command answers; fails where it refuses. */
export async function admin(...args: string[]) {
  const { code, out, error } = await runAdmin([...args, "--json"]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out);
}
