import { availableParallelism } from "node:os";
import { OutOfTime, threadsOf } from "@/server/platform/threads/threads";
import { checkInput, type ExpressionInput, type ExpressionOutput } from "./evaluate";
import { ExpressionError } from "./refusal";
import type { ExpressionAnswer } from "./worker";

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

/** CPU limit of one evaluation in milliseconds; a backstop behind the counted work. */
const DEADLINE_MS = 250;

const threads = threadsOf<ExpressionInput, ExpressionAnswer>({
  name: "expression",
  size: Math.min(Math.max(availableParallelism(), 2), 4),
  deadlineMs: DEADLINE_MS,
  memoryMb: 64,
});
/** Stops the workers; a later evaluation starts them again. */
export const closeExpressionPool = threads.close;

/**
 * Evaluates an expression on a worker thread. The same input gives the same output or the same ExpressionError, with one of ten
 * codes. Throws `OutOfTime` if the thread was stopped: after 250 ms of processor time, out of memory, or by another failure.
 */
export async function evaluateExpression(input: ExpressionInput): Promise<ExpressionOutput> {
  // Checked here too, so that an oversized input is not copied to another thread.
  checkInput(input);
  const answer = await threads.run(input);
  switch (answer.state) {
    case "done":
      return answer.output;
    case "refused":
      throw new ExpressionError(answer.code, answer.message, answer.position);
    case "stopped":
      throw new OutOfTime("The evaluation was stopped because it took too long here.");
    default:
      throw new Error("The expression engine failed.", {
        cause: answer.message,
      });
  }
}
