import { serveThread } from "@/server/platform/threads/thread-serve";
import { type ExpressionInput, type ExpressionOutput, evaluate } from "./evaluate";
import { ExpressionError, type ExpressionErrorCode } from "./refusal";

/** A worker's answer to one input. */
export type ExpressionAnswer =
  | { state: "done"; output: ExpressionOutput }
  | { state: "refused"; code: ExpressionErrorCode; message: string; position: number | undefined }
  | { state: "broken"; message: string };

function answer(input: ExpressionInput): ExpressionAnswer {
  try {
    return { state: "done", output: evaluate(input) };
  } catch (error) {
    if (error instanceof ExpressionError)
      return { state: "refused", code: error.code, message: error.message, position: error.position };
    return {
      state: "broken",
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

// Compiles the hot paths before the first caller waits for them.
evaluate({
  expression: "round(sqrt(2) * 1.5 ^ -3 + max(2 ^ 0.5, 7 % 3) / 3, 5)",
  precision: 200,
  rounding: "05up",
});
serveThread(answer);
