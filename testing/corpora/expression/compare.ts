import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type ExpressionInput, evaluate } from "@/server/compute/expression/evaluate";
import { ExpressionError } from "@/server/compute/expression/refusal";

/** One case of make_cases.py; `result` or `error` comes from Python's decimal. */
export type OracleCase = ExpressionInput & { result?: string; error?: string; cpython?: string };

/** The engine's result for a case, or its error code. */
export function answer(input: ExpressionInput): string {
  try {
    return evaluate(input).result;
  } catch (error) {
    if (error instanceof ExpressionError) return error.code;
    throw error;
  }
}

export function readCases(path: string): OracleCase[] {
  const file = readFileSync(path);
  const text = path.endsWith(".gz") ? gunzipSync(file) : file;
  return JSON.parse(text.toString("utf8")) as OracleCase[]; // written by make_cases.py only, in this shape
}

// Usage: npx tsx testing/corpora/expression/compare.ts cases.json. Prints every difference and counts them by kind.
const file = process.argv[1]?.endsWith("compare.ts") ? process.argv[2] : undefined;
if (file) {
  const counts = { agree: 0, agreeOnRefusal: 0, cpythonPowerRoundsOtherwise: 0, differ: 0 };
  for (const { result, error, cpython, ...input } of readCases(file)) {
    const ours = answer(input);
    if (ours !== (result ?? error)) {
      counts.differ++;
      console.log(JSON.stringify({ ...input, python: result ?? error, ours }));
    } else if (error === undefined) counts.agree++;
    else counts.agreeOnRefusal++;
    if (cpython !== undefined) counts.cpythonPowerRoundsOtherwise++;
  }
  console.log(counts);
}
