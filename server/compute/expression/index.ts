import { availableParallelism } from "node:os";
import { threadsOf } from "@/server/compute/threads";
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

const threads = threadsOf<ExpressionInput, Answer>({
  name: "expression",
  size: Math.min(Math.max(availableParallelism(), 2), 4),
  deadlineMs: DEADLINE_MS,
  memoryMb: 64,
});
/** Stops the workers; a later evaluation starts them again. */
export const closeExpressionPool = threads.close;

/**
 * Evaluates an expression on a worker thread. The same input gives the same output, or the same refusal: an
 * ExpressionError with one of ten codes. At most 250 ms after its turn it has ended.
 */
export async function evaluateExpression(input: ExpressionInput): Promise<ExpressionOutput> {
  // Also here: what is too long is not worth copying to another thread.
  checkInput(input);
  const answer = await threads.run(input);
  switch (answer.state) {
    case "done":
      return answer.output;
    case "refused":
      throw new ExpressionError(answer.code, answer.message, answer.position);
    case "stopped":
      throw new ExpressionError(
        "complexity_limit_exceeded",
        `The evaluation took longer than ${DEADLINE_MS} ms.`,
      );
    default:
      throw new Error("The expression engine failed.", {
        cause: answer.message,
      });
  }
}
