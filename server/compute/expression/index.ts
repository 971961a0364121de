import { availableParallelism } from "node:os";
import { type Pool, startPool } from "@/server/compute/thread-pool";
import { findProgram } from "@/server/compute/thread-program";
import { checkInput, type ExpressionInput, type ExpressionOutput } from "./evaluate";
import { ExpressionError } from "./refusal";
import type { Answer } from "./worker";

export { ROUNDINGS, type Rounding } from "./context";
export {
  DEFAULT_PRECISION,
  DEFAULT_ROUNDING,
  ENGINE,
  type ExpressionInput,
  type ExpressionOutput,
  MAX_EXPRESSION_LENGTH,
  MAX_PRECISION,
  MAX_VARIABLE_LENGTH,
} from "./evaluate";
export { EXPRESSION_ERROR_CODES, ExpressionError, type ExpressionErrorCode } from "./refusal";

/** Wall time of one evaluation. The counted work ends long before; this is for what nobody thought of. */
const DEADLINE_MS = 250;

// One pool a process, though this module may be loaded by several bundles in it.
const POOL = Symbol.for("capstan.expression.pool");
const home: typeof globalThis & { [POOL]?: Promise<Pool<ExpressionInput, Answer>> } = globalThis;

function pool(): Promise<Pool<ExpressionInput, Answer>> {
  home[POOL] ??= findProgram("expression")
    .then((program) =>
      startPool<ExpressionInput, Answer>({
        name: "expression",
        program,
        size: Math.min(Math.max(availableParallelism(), 2), 4),
        deadlineMs: DEADLINE_MS,
        memoryMb: 64,
      }),
    )
    .catch((error) => {
      // The next caller tries again.
      delete home[POOL];
      throw error;
    });
  return home[POOL];
}

/** Stops the workers; a later evaluation starts them again. */
export async function closeExpressionPool(): Promise<void> {
  const running = home[POOL];
  delete home[POOL];
  await (await running)?.close();
}

/**
 * Evaluates an expression on a worker thread. The same input gives the same output, or the same refusal: an
 * ExpressionError with one of ten codes. At most 250 ms after its turn it has ended.
 */
export async function evaluateExpression(input: ExpressionInput): Promise<ExpressionOutput> {
  // Also here: what is too long is not worth copying to another thread.
  checkInput(input);
  const answer = await (await pool()).run(input);
  if (!answer)
    throw new ExpressionError(
      "complexity_limit_exceeded",
      `The evaluation took longer than ${DEADLINE_MS} ms.`,
    );
  switch (answer.state) {
    case "done":
      return answer.output;
    case "refused":
      throw new ExpressionError(answer.code, answer.message, answer.position);
    default:
      throw new Error("The expression engine failed.", {
        cause: answer.message,
      });
  }
}
