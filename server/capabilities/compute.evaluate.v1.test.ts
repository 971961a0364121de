import { afterAll, expect, test } from "vitest";
import { closeExpressionPool, EXPRESSION_ERROR_CODES } from "@/server/compute/expression";
import { isErrorCode } from "@/server/platform/errors/errors";
import capability from "./compute.evaluate.v1";
import { CapabilityFault } from "./define";

afterAll(closeExpressionPool);

/** Runs an input as the domain does, after parsing it with the capability's schema. */
async function run(input: unknown): Promise<unknown> {
  if (!("local" in capability.execute)) throw new Error("it runs here");
  const parsed = capability.input.parse(input);
  const { typedOutput, files } = await capability.execute.run(parsed, new AbortController().signal, []);
  expect(files).toEqual([]);
  return capability.output.parse(typedOutput);
}

test.each(capability.examples)("the example '$title' has the output it states", async ({ input, output }) => {
  expect(await run(input)).toEqual(output);
});

test("every refusal has a row in the error table", () => {
  expect(capability.features.errorCodes).toEqual([...EXPRESSION_ERROR_CODES]);
  expect(EXPRESSION_ERROR_CODES.filter((code) => !isErrorCode(code))).toEqual([]);
});

test.each([
  ["invalid_expression", { expression: "1 +" }],
  ["unknown_variable", { expression: "x" }],
  ["unsupported_function", { expression: "ln(2)" }],
  ["division_by_zero", { expression: "1 / 0" }],
  ["numeric_overflow", { expression: "1e9000 ^ 2" }],
  ["precision_limit_exceeded", { expression: "round(1 / 3, 30)" }],
  ["complexity_limit_exceeded", { expression: "9 ^ 9 ^ 9" }],
  ["invalid_variable", { expression: "x", variables: { x: "ten" } }],
  ["domain_error", { expression: "sqrt(-1)" }],
  ["invalid_parameter", { expression: "round(1, 1.5)" }],
])("a valid input can be refused with %s", async (code, input) => {
  const refusal = await run(input).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(CapabilityFault);
  expect(refusal).toMatchObject({ code });
});

test.each([
  { expression: "" },
  { expression: "1".repeat(2049) },
  { expression: "1", precision: 0 },
  { expression: "1", precision: 1001 },
  { expression: "1", precision: 1.5 },
  { expression: "1", rounding: "nearest" },
  { expression: "x", variables: { x: 1 } },
  { expression: "x", variables: { x: "1".repeat(513) } },
  { expression: "1", scale: 2 },
])("input outside the schema is refused: %j", (input) => {
  expect(capability.input.safeParse(input).success).toBe(false);
});
