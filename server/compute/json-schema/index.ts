import type { Json } from "@/server/platform/durable/step";
import { type Stopped, threadsOf } from "@/server/platform/threads/threads";
import { inTurns } from "@/server/platform/time/turn";
import { checkSize, type JsonSchema, type SchemaProblem } from "./check";
import type { Misfit } from "./validate";
import type { Question, ValidationAnswer } from "./worker";

export type { JsonSchema, SchemaProblem } from "./check";
export type { Misfit } from "./validate";

/* Callers' JSON Schemas are untrusted programs: they are compiled and run on threads that can be stopped. */

const DEADLINE_MS = 250;
const threads = threadsOf<Question, ValidationAnswer>({
  name: "json-schema",
  size: 2,
  deadlineMs: DEADLINE_MS,
  memoryMb: 128,
});
/** Stops the threads; a later question starts them again. */
export const closeSchemaPool = threads.close;

/** Asks a second time if the thread was stopped, because a busy machine may miss the first deadline. */
async function ask(question: Question): Promise<ValidationAnswer | Stopped> {
  const answer = await threads.run(question);
  return answer.state === "stopped" ? threads.run(question) : answer;
}

/** Checks a schema; null if values can be validated against it. */
export async function checkSchema(schema: JsonSchema): Promise<SchemaProblem | null> {
  const problem = await inTurns(checkSize(schema));
  if (problem) return problem;
  const answer = await ask({ schema });
  if (answer.state === "stopped")
    return { path: [], message: `The schema takes longer than ${DEADLINE_MS} ms to compile.` };
  return answer.state === "refused" ? answer.problem : null;
}

/**
 * Lists where a value does not fit a schema that was checked before, at most twenty places; empty if the value fits. A timeout is
 * reported as a misfit.
 */
export async function misfitsOf(schema: JsonSchema, value: Json): Promise<Misfit[]> {
  const answer = await ask({ schema, value });
  if (answer.state === "stopped")
    return [{ at: "", keyword: "timeout", message: `could not be validated within ${DEADLINE_MS} ms` }];
  if (answer.state === "refused") return [{ at: "", keyword: "schema", message: answer.problem.message }];
  return answer.misfits;
}
