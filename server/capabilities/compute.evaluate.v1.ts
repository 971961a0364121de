import { z } from "zod";
import {
  DEFAULT_PRECISION,
  DEFAULT_ROUNDING,
  ENGINE,
  EXPRESSION_ERROR_CODES,
  ExpressionError,
  evaluateExpression,
  MAX_EXPRESSION_LENGTH,
  MAX_PRECISION,
  MAX_VARIABLE_LENGTH,
  ROUNDINGS,
} from "@/server/compute/expression";
import { CapabilityFault, defineCapability } from "./define";

const Input = z.strictObject({
  expression: z
    .string()
    .min(1)
    .max(MAX_EXPRESSION_LENGTH)
    .describe(
      "Decimal numbers, variables, + - * / % ^, parentheses, sqrt, abs, min, max, round. % is a remainder with the sign of the dividend; ^ binds tighter than a sign, so -2^2 is -4.",
    ),
  variables: z
    .record(z.string(), z.string().max(MAX_VARIABLE_LENGTH))
    .default({})
    .describe('Values by name, as decimal strings: {"price": "19.99"}.'),
  precision: z
    .int()
    .min(1)
    .max(MAX_PRECISION)
    .default(DEFAULT_PRECISION)
    .describe("Significant digits of inexact results."),
  rounding: z.enum(ROUNDINGS).default(DEFAULT_ROUNDING),
});

const Output = z.object({
  result: z
    .string()
    .describe(
      "A decimal. Very large, very small and some rounded values use scientific notation, as in 1.2E+30.",
    ),
  normalizedExpression: z
    .string()
    .describe("The expression as it was parsed, without redundant parentheses."),
  precision: z.int().min(1).max(MAX_PRECISION),
  rounding: z.enum(ROUNDINGS),
  engine: z
    .literal(ENGINE)
    .describe("Library and grammar version: the same engine always gives the same output."),
  warnings: z.array(z.string()),
});

export default defineCapability({
  key: "compute.evaluate.v1",
  title: "Evaluate an expression",
  description:
    "Calculates with exact decimals: no binary rounding errors, up to 1,000 digits, eight roundings, variables. The same input always gives the same answer.",
  modality: "text",
  family: "math",
  category: "analysis",
  modes: ["invoke_sync"],
  input: Input,
  output: Output,
  inputConstraints: {},
  features: {
    syncInvoke: { supported: true, targetMaxDurationSeconds: 1 },
    executionClass: "local",
    providerBacked: false,
    modelBacked: false,
    deterministic: true,
    errorCodes: [...EXPRESSION_ERROR_CODES],
  },
  inputMediaTypes: ["application/json"],
  outputKind: "structured",
  outputMediaType: "application/json",
  intentExamples: [
    "Calculate 19.99 times 3 plus 19 % tax, to the cent",
    "What is the square root of 2 to 50 digits?",
    "Compound interest on 1000 at 5 % over ten years",
    "Evaluate (a + b) / c with exact decimals",
  ],
  synonyms: [
    "calculate",
    "calculator",
    "math",
    "maths",
    "arithmetic",
    "formula",
    "decimal",
    "expression",
    "compute",
    "percentage",
    "rounding",
  ],
  taskTags: ["math", "calculation", "arithmetic", "finance"],
  trialEligible: false,
  readySummary: "Exact results immediately. Free, with no account to connect.",
  examples: [
    {
      title: "A price with tax, to the cent",
      input: {
        expression: "round(price * quantity * (1 + tax), 2)",
        variables: { price: "19.99", quantity: "3", tax: "0.19" },
        rounding: "half_up",
      },
      output: {
        result: "71.36",
        normalizedExpression: "round(price * quantity * (1 + tax), 2)",
        precision: 28,
        rounding: "half_up",
        engine: ENGINE,
        warnings: [],
      },
    },
    {
      title: "Tenths that are tenths",
      input: { expression: "0.1 + 0.2" },
      output: {
        result: "0.3",
        normalizedExpression: "0.1 + 0.2",
        precision: 28,
        rounding: "half_even",
        engine: ENGINE,
        warnings: [],
      },
    },
    {
      title: "Fifty digits of a square root",
      input: { expression: "sqrt(2)", precision: 50 },
      output: {
        result: "1.4142135623730950488016887242096980785696718753769",
        normalizedExpression: "sqrt(2)",
        precision: 50,
        rounding: "half_even",
        engine: ENGINE,
        warnings: [],
      },
    },
    {
      title: "Compound interest",
      input: {
        expression: "round(principal * (1 + (rate / 12)) ^ (12 * years), 2)",
        variables: { principal: "1000", rate: "0.05", years: "10" },
      },
      output: {
        result: "1647.01",
        normalizedExpression: "round(principal * (1 + rate / 12) ^ (12 * years), 2)",
        precision: 28,
        rounding: "half_even",
        engine: ENGINE,
        warnings: [],
      },
    },
  ],
  execute: {
    local: true,
    engine: ENGINE,
    async run(input, signal) {
      signal.throwIfAborted();
      try {
        return { typedOutput: await evaluateExpression(input), files: [] };
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        throw new CapabilityFault(
          error.code,
          error.message,
          error.position === undefined ? {} : { position: error.position },
        );
      }
    },
  },
});
