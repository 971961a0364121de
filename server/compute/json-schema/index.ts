import { type Pool, startPool } from "@/server/compute/thread-pool";
import { findProgram } from "@/server/compute/thread-program";
import type { Json } from "@/server/step";
import { checkSize, type JsonSchema, type SchemaProblem } from "./check";
import type { Misfit } from "./validate";
import type { Answer, Question } from "./worker";

export { type JsonSchema, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, type SchemaProblem } from "./check";
export type { Misfit } from "./validate";

/* JSON Schemas of callers: strangers' programs, compiled and run on threads that may be thrown away. */

const DEADLINE_MS = 250;
const MEMORY_MB = 128;
const THREADS = 2;

// One pool a process, though this module may be loaded by several bundles in it.
const POOL = Symbol.for("capstan.json-schema.pool");
const home: typeof globalThis & { [POOL]?: Promise<Pool<Question, Answer>> } = globalThis;

function pool(): Promise<Pool<Question, Answer>> {
  home[POOL] ??= findProgram("json-schema")
    .then((program) =>
      startPool<Question, Answer>({
        name: "json-schema",
        program,
        size: THREADS,
        deadlineMs: DEADLINE_MS,
        memoryMb: MEMORY_MB,
      }),
    )
    .catch((error) => {
      // The next caller tries again.
      delete home[POOL];
      throw error;
    });
  return home[POOL];
}

/** Stops the threads; a later question starts them again. */
export async function closeSchemaPool(): Promise<void> {
  const running = home[POOL];
  delete home[POOL];
  await (await running)?.close();
}

/** Asks twice: the first deadline may be missed by a machine that is busy with something else. */
async function ask(question: Question): Promise<Answer | null> {
  const threads = await pool();
  return (await threads.run(question)) ?? threads.run(question);
}

/** What is wrong with a schema; null: it can be validated against. */
export async function checkSchema(schema: JsonSchema): Promise<SchemaProblem | null> {
  const problem = checkSize(schema);
  if (problem) return problem;
  const answer = await ask({ schema });
  if (!answer) return { path: [], message: `The schema takes longer than ${DEADLINE_MS} ms to compile.` };
  return answer.state === "refused" ? answer.problem : null;
}

/** Where a value does not fit a schema that was checked before; none: it does. */
export async function misfitsOf(schema: JsonSchema, value: Json): Promise<Misfit[]> {
  const answer = await ask({ schema, value });
  if (!answer)
    return [{ at: "", keyword: "timeout", message: `could not be validated within ${DEADLINE_MS} ms` }];
  if (answer.state === "refused") return [{ at: "", keyword: "schema", message: answer.problem.message }];
  return answer.misfits;
}
