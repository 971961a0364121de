import { expect, test } from "vitest";
import { figuresOfExecutions, typesOf, typesOfEnds } from "./figures";
import { ROOT } from "./sources.fixture";

/**
 * Maximum number of types that say how a call or an execution ends; the members of CallOutcome count with it.
 * The number may only fall.
 */
const MOST_TYPES_OF_ENDS = 13;

test("no further type says how an execution ends", () => {
  const { ends } = figuresOfExecutions(ROOT);
  expect(ends).toContain("Ending (server/domain/executions/call-outcome.ts)");
  expect(ends.length, ends.join(", ")).toBe(MOST_TYPES_OF_ENDS);
});

test("a type that contains a root through another type is an end, and a type of the same name elsewhere is not", () => {
  const core = typesOf(
    "core.ts",
    `
/** type Commented = Settlement; */
export type Ending = {
  settlement: Settlement;
  code: string;
};
export type Failed = Ending & { code: string };
export type CallOutcome = Failed | Pending;
type Pending = { handle: string };
`,
  );
  const other = typesOf("other.ts", "type Ending = { page: number };\ntype View = { ending: Ending };\n");
  const third = typesOf("third.ts", "export type Finished<Row> = { row: Row; last: Ending };\n");
  const ends = typesOfEnds([...core, ...other, ...third], (file) =>
    file === "core.ts" ? new Map([["Settlement", "outcomes.ts"]]) : new Map([["Ending", "core.ts"]]),
  );
  expect(ends.map(({ file, name }) => `${file} ${name}`)).toEqual([
    "core.ts Ending",
    "core.ts CallOutcome",
    "third.ts Finished",
  ]);
});
