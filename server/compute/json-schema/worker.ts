import type { Json } from "@/server/platform/durable/step";
import { serveThread } from "@/server/platform/threads/thread-serve";
import type { JsonSchema, SchemaProblem } from "./check";
import { compile, type Misfit } from "./validate";

/** Without `value`, only the schema is checked. */
export type Question = { schema: JsonSchema; value?: Json };
export type ValidationAnswer =
  | { state: "refused"; problem: SchemaProblem }
  | { state: "done"; misfits: Misfit[] };

function answer({ schema, value }: Question): ValidationAnswer {
  const compiled = compile(schema);
  if ("message" in compiled) return { state: "refused", problem: compiled };
  return { state: "done", misfits: value === undefined ? [] : compiled.fits(value) };
}

// Compiles both drafts' own schemas before the first caller waits for them.
answer({ schema: { type: "object", properties: { a: { pattern: "^a+$" } } }, value: { a: "a" } });
answer({ schema: { $schema: "http://json-schema.org/draft-07/schema#", type: "object" }, value: {} });
serveThread(answer);
