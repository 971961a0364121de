import decimalPackage from "decimal.js/package.json" with { type: "json" };
import { expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { answer, type OracleCase, readCases } from "@/testing/corpora/expression/compare";
import { ENGINE, evaluate } from "./evaluate";
import { EXPRESSION_ERROR_CODES } from "./refusal";

const ROUNDINGS = ["05up", "ceiling", "down", "floor", "half_down", "half_even", "half_up", "up"] as const;
const oracle = (name: string) => readCases(`testing/corpora/expression/${name}`);
const cases = oracle("cases.json");
const random = oracle("random.json.gz");

const differences = (from: OracleCase[]) =>
  from
    .map(({ result, error, cpython: _, ...input }) => ({
      ...input,
      python: result ?? error,
      ours: answer(input),
    }))
    .filter(({ python, ours }) => python !== ours);

test("every oracle case has the result or the refusal that Python's decimal gives it", () => {
  expect(differences(cases)).toEqual([]);
});

/** Labels of one case, for sampling: rounding with size of precision and outcome, and each operator and function in it. */
function kindsOf({ expression, precision = 28, rounding, error }: OracleCase): string[] {
  const length = precision <= 9 ? "short" : precision <= 28 ? "plain" : precision <= 200 ? "long" : "longest";
  const parts = expression.match(/[a-z]+\(|[-+*/%^]/g) ?? [];
  return [
    `${rounding} ${length} ${error ?? "result"}`,
    ...parts.map((part) => `${part} ${rounding} ${length}`),
  ];
}

test("random expressions over all roundings and precisions end as Python's decimal ends them", () => {
  const chosen = campaign.sample(random, kindsOf);
  expect(chosen.length).toBeGreaterThan(100);
  expect(differences(chosen)).toEqual([]);
}, 60_000);

test("at least 5,000 random expressions have a result, and no rounding or size of precision is rare", () => {
  expect(random.filter(({ result }) => result !== undefined).length).toBeGreaterThanOrEqual(5000);
  expect(
    new Set(random.map(({ expression, precision }) => `${precision} ${expression}`)).size,
  ).toBeGreaterThan(5500);
  for (const rounding of ROUNDINGS)
    expect(random.filter((one) => one.rounding === rounding).length).toBeGreaterThan(600);
  for (const [from, to] of [
    [1, 9],
    [10, 28],
    [29, 200],
    [201, 1000],
  ] as const)
    expect(
      random.filter(({ precision = 28 }) => precision >= from && precision <= to).length,
    ).toBeGreaterThan(500);
});

test("only powers have another result in CPython's C module than in the oracle", () => {
  const otherwise = [...cases, ...random].filter(({ cpython }) => cpython !== undefined);
  for (const { result, cpython, expression } of otherwise) {
    expect(cpython).not.toBe(result);
    expect(expression).toContain("^");
  }
});

test("the oracle covers every rounding, precisions from 1 to 1000 and all ten refusals in at least 500 cases", () => {
  expect(cases.length).toBeGreaterThanOrEqual(500);
  expect(new Set(cases.map(({ error }) => error).filter(Boolean))).toEqual(new Set(EXPRESSION_ERROR_CODES));
  for (const rounding of ROUNDINGS)
    expect(cases.filter((one) => one.rounding === rounding).length).toBeGreaterThan(100);
  const precisions = cases.map(({ precision }) => precision ?? 28);
  expect(precisions).toEqual(expect.arrayContaining([1, 1000]));
});

test("the engine's name contains the installed version of decimal.js", () => {
  expect(ENGINE).toContain(`decimal.js ${decimalPackage.version} `);
});

test("an output has every field, with the defaults filled in", () => {
  expect(evaluate({ expression: "((0.1))+0.20" })).toEqual({
    result: "0.30",
    normalizedExpression: "0.1 + 0.20",
    precision: 28,
    rounding: "half_even",
    engine: ENGINE,
    warnings: [],
  });
});

test("an unused variable and a rounding that sqrt ignores add warnings", () => {
  expect(evaluate({ expression: "1", variables: { vat: "0.19" } }).warnings).toEqual([
    "The variable vat is not used.",
  ]);
  expect(evaluate({ expression: "sqrt(2)", rounding: "up" }).warnings).toEqual([
    "sqrt rounds half_even, as decimal arithmetic defines it; up applies to the other operations.",
  ]);
  expect(evaluate({ expression: "sqrt(4)", rounding: "up" }).warnings).toEqual([]);
});

test.each([
  ["2 + ", "invalid_expression", 4],
  ["1 + x", "unknown_variable", 4],
  ["1 + sin(2)", "unsupported_function", 4],
  ["1 / 0", "division_by_zero", 2],
  ["2 * 1e10001", "numeric_overflow", 4],
  ["1e9000 * 1e9000", "numeric_overflow", 7],
  ["1 + 1e40 % 3", "precision_limit_exceeded", 9],
  ["2 ^ 10001", "complexity_limit_exceeded", 2],
  ["sqrt(-1)", "domain_error", 0],
  ["round(1, 0.5)", "invalid_parameter", 0],
])("%s is refused with %s at the faulty position", (expression, code, position) => {
  expect(() => evaluate({ expression })).toThrow(expect.objectContaining({ code, position }));
});

test("a name that every object inherits is no variable unless it is given", () => {
  for (const expression of ["constructor", "toString", "__proto__", "hasOwnProperty"])
    expect(answer({ expression })).toBe("unknown_variable");
  expect(answer({ expression: "constructor(1)" })).toBe("unsupported_function");
  expect(answer({ expression: "__proto__ + 1", variables: JSON.parse('{"__proto__":"2"}') })).toBe("3");
});

test("excessive work is refused at the same operation every time", () => {
  const expression = Array(1000).fill("a").join("*");
  const refusal = (): unknown => {
    try {
      return evaluate({ expression, variables: { a: `1.${"7316".repeat(120)}` }, precision: 1000 });
    } catch (error) {
      return error;
    }
  };
  expect(refusal()).toMatchObject({ code: "complexity_limit_exceeded" });
  expect(refusal()).toEqual(refusal());
});

test("more variables than an expression can name are refused", () => {
  const variables = Object.fromEntries(Array.from({ length: 1025 }, (_, n) => [`v${n}`, "1"]));
  expect(answer({ expression: "v1", variables })).toBe("complexity_limit_exceeded");
});
