import fc from "fast-check";
import { expect, test } from "vitest";
import type { RawEnvelope } from "@/server/contract/envelope";
import { ValidationFault } from "@/server/platform/errors/errors";
import { campaign } from "@/testing/campaign";
import { type EnvelopeKind, normalizeEnvelope, settleKey } from "./normalize";
import { input, refusal } from "./normalize.fixture";

const KINDS: EnvelopeKind[] = ["jobs", "invoke", "quote"];

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const OPTIONS = {
  billingMode: "managed",
  credentialSource: "platform",
  quoteId: "quote_1",
  maximumCharge: { amountMicros: 5 },
};
const CONSTRAINTS = {
  preferredModel: "sandbox-1",
  autoSelect: true,
  providerPin: "sandbox",
  maxCostUsd: 0.5,
  maxDurationSeconds: 30,
  budgetEnforcement: "warn",
};

for (const kind of KINDS) {
  test(`${kind}: a field means the same at the root, in snake_case and in its own place`, () => {
    for (const [name, value] of Object.entries(OPTIONS)) {
      const there = normalizeEnvelope(kind, { input, execution: { [name]: value } });
      expect(there.execution).toMatchObject({ [name]: value });
      expect(normalizeEnvelope(kind, { input, [name]: value })).toEqual(there);
      expect(normalizeEnvelope(kind, { input, [snake(name)]: value })).toEqual(there);
    }
    for (const [name, value] of Object.entries(CONSTRAINTS)) {
      const there = normalizeEnvelope(kind, {
        input,
        execution: { executionConstraints: { [name]: value } },
      });
      expect(there.execution.executionConstraints).toMatchObject({ [name]: value });
      expect(normalizeEnvelope(kind, { input, [name]: value })).toEqual(there);
      expect(normalizeEnvelope(kind, { input, [snake(name)]: value })).toEqual(there);
    }
  });

  test(`${kind}: two different values of one constraint are a conflict, two equal ones are not`, () => {
    for (const [name, value] of Object.entries(CONSTRAINTS)) {
      const other = { number: 31, boolean: false, string: "prevent", object: {} }[
        typeof value as "number" | "boolean" | "string"
      ];
      const nested = (given: unknown) =>
        ({ input, [name]: value, execution: { executionConstraints: { [name]: given } } }) as RawEnvelope;
      expect(normalizeEnvelope(kind, nested(value)).execution.executionConstraints).toMatchObject({
        [name]: value,
      });
      expect(refusal(() => normalizeEnvelope(kind, nested(other)))).toEqual({
        code: "CONFLICTING_EXECUTION_CONSTRAINT",
        field: name,
        values: [value, other],
      });
    }
  });

  test(`${kind}: a different value of an option already in its place is refused by name`, () => {
    const body = { input, billingMode: "byok", execution: { billingMode: "managed" } };
    expect(refusal(() => normalizeEnvelope(kind, body))).toEqual({
      at: "body.billingMode",
      type: "value_error",
    });
  });

  test(`${kind}: timeoutSeconds is another name of maxDurationSeconds, at both places`, () => {
    const wanted = normalizeEnvelope(kind, { input, maxDurationSeconds: 30 });
    const spellings: RawEnvelope[] = [
      { input, timeoutSeconds: 30 },
      { input, timeout_seconds: 30 },
      { input, timeoutSeconds: 30, max_duration_seconds: 30 },
      { input, execution: { executionConstraints: { timeoutSeconds: 30 } } },
      { input, timeoutSeconds: 30, execution: { executionConstraints: { maxDurationSeconds: 30 } } },
    ];
    for (const body of spellings) {
      expect(normalizeEnvelope(kind, body)).toEqual(wanted);
    }
    expect(
      refusal(() => normalizeEnvelope(kind, { input, timeoutSeconds: 30, maxDurationSeconds: 31 })),
    ).toEqual({ code: "CONFLICTING_EXECUTION_CONSTRAINT", field: "maxDurationSeconds", values: [30, 31] });
  });

  test(`${kind}: quoteId and estimateId fill each other and must agree`, () => {
    const given: RawEnvelope[] = [
      { quoteId: "quote_1" },
      { estimateId: "quote_1" },
      { quoteId: "quote_1", estimateId: "quote_1" },
    ];
    for (const execution of given) {
      expect(normalizeEnvelope(kind, { input, execution }).execution).toMatchObject({
        quoteId: "quote_1",
        estimateId: "quote_1",
      });
    }
    expect(
      refusal(() =>
        normalizeEnvelope(kind, { input, execution: { quoteId: "quote_1", estimateId: "quote_2" } }),
      ),
    ).toEqual({
      code: "ESTIMATE_MISMATCH",
      field: "execution.estimateId",
      quoteId: "quote_1",
      estimateId: "quote_2",
    });
  });

  test(`${kind}: a field no one knows is named with its path, a guess and what is supported`, () => {
    const constraints = ["preferredModel", "providerPin", "autoSelect", "maxCostUsd", "budgetEnforcement"];
    const { supported } = refusal(() => normalizeEnvelope(kind, { input, preferedModel: "x" })) as {
      supported: string[];
    };
    // Every field listed as supported is really accepted.
    const known: RawEnvelope = { ...CONSTRAINTS, ...OPTIONS, estimateId: "quote_1", timeoutSeconds: 30 };
    for (const name of supported)
      normalizeEnvelope(kind, { input, ...(name in known ? { [name]: known[name]! } : {}) });
    expect(refusal(() => normalizeEnvelope(kind, { input, preferedModel: "x" }))).toEqual({
      code: "UNKNOWN_EXECUTION_FIELD",
      path: "preferedModel",
      didYouMean: "preferredModel",
      didYouMeanPath: "execution.executionConstraints.preferredModel",
      supported: expect.arrayContaining(constraints),
      retryable: false,
    });
    expect(
      refusal(() => normalizeEnvelope(kind, { input, execution: { billingmode: "byok" } })),
    ).toMatchObject({ path: "execution.billingmode", didYouMean: "billingMode" });
    expect(
      refusal(() =>
        normalizeEnvelope(kind, { input, execution: { executionConstraints: { maxLatencyMs: 5 } } }),
      ),
    ).toMatchObject({
      path: "execution.executionConstraints.maxLatencyMs",
      supported: expect.arrayContaining([...constraints, "queueDeadlineSeconds"]),
    });
    expect(refusal(() => normalizeEnvelope(kind, { input, zzzzzzzzzz: 1 }))).toMatchObject({
      path: "zzzzzzzzzz",
      didYouMean: null,
    });
  });

  test(`${kind}: an unknown field of the context is a field error`, () => {
    expect(refusal(() => normalizeEnvelope(kind, { input, context: { project: "x" } }))).toEqual({
      at: "body.context.project",
      type: "extra_forbidden",
    });
  });

  test(`${kind}: a bare body is the input`, () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1, maxLength: 12 }).filter((name) => !RESERVED.has(name)),
          fc.jsonValue({ maxDepth: 2 }),
          { maxKeys: 5 },
        ),
        (fields) => {
          const given = JSON.parse(JSON.stringify(fields));
          expect(normalizeEnvelope(kind, given)).toEqual(normalizeEnvelope(kind, { input: given }));
        },
      ),
      campaign.runs({ small: 300, full: 3_000 }),
    );
  });

  test(`${kind}: a normalized request is its own normal form`, () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            preferredModel: fc.string({ minLength: 1 }),
            maxCostUsd: fc.integer({ min: 1 }),
            autoSelect: fc.boolean(),
          },
          { requiredKeys: [] },
        ),
        fc.record(
          { billingMode: fc.constantFrom("byok", "managed"), quoteId: fc.uuid() },
          { requiredKeys: [] },
        ),
        (constraints, options) => {
          const once = normalizeEnvelope(kind, { input, ...constraints, ...options });
          const again = normalizeEnvelope(kind, JSON.parse(JSON.stringify(once)));
          expect(again).toEqual(once);
        },
      ),
      campaign.runs({ small: 100, full: 1_000 }),
    );
  });

  test(`${kind}: null means absent where the field may be absent`, () => {
    const plain = normalizeEnvelope(kind, { input });
    expect(normalizeEnvelope(kind, { input, execution: { executionConstraints: null } })).toEqual(plain);
    expect(normalizeEnvelope(kind, { input, execution: null })).toEqual(plain);
    expect(
      normalizeEnvelope(kind, { input, execution: { billingMode: null } }).execution.billingMode,
    ).toBeNull();
    const unpinned = normalizeEnvelope(kind, { input, preferredModel: null });
    expect(unpinned.execution.executionConstraints.preferredModel).toBeNull();
  });
}

/** The names, in either spelling, that an envelope uses itself. */
const RESERVED = new Set(
  [
    ...["externalRef", "tags", "metadata", "responseSchema", "toolSchemas", "sampling", "readerDelivery"],
    ...["maturityRating", "matureContentTraits", "maturitySource", "context", "input", "inputPayloadRef"],
    ...["execution", "budget", "idempotencyKey", "correlationId", "taskKind", "pin", "executionMode"],
    ...["options", "model", "estimateId", "timeoutSeconds"],
    ...Object.keys(OPTIONS),
    ...Object.keys(CONSTRAINTS),
  ].flatMap((name) => [name, snake(name)]),
);

test("missing, wrong and out-of-range values have the error types that clients read", () => {
  const body = {
    input,
    tags: "x",
    pin: {},
    sampling: { temperature: 3 },
    execution: {
      executionPreference: "fastest",
      billingMode: "free",
      executionConstraints: { maxCostUsd: 0 },
    },
  };
  try {
    normalizeEnvelope("jobs", body);
    expect.unreachable();
  } catch (cause) {
    const issues = cause instanceof ValidationFault ? cause.issues : [];
    expect(Object.fromEntries(issues.map(({ loc, type }) => [loc.join("."), type]))).toEqual({
      "body.tags": "array_type",
      "body.pin.target": "missing",
      "body.sampling.temperature": "less_than_equal",
      "body.execution.executionPreference": "literal_error",
      "body.execution.billingMode": "enum",
      "body.execution.executionConstraints.maxCostUsd": "greater_than",
    });
  }
});

test("a providerPin of provider/model is split into provider and model", () => {
  const constraints = (more: object) =>
    normalizeEnvelope("jobs", { input, ...more }).execution.executionConstraints;
  expect(constraints({ providerPin: "sandbox/a/b" })).toEqual(
    constraints({ providerPin: "sandbox", preferredModel: "a/b" }),
  );
  expect(constraints({ providerPin: "sandbox/a", preferredModel: "sandbox/a" })).toEqual(
    constraints({ providerPin: "sandbox/a" }),
  );
});

test("unknown fields of sampling and budget are named in the error", () => {
  expect(refusal(() => normalizeEnvelope("jobs", { input, sampling: { temprature: 1 } }))).toMatchObject({
    code: "UNKNOWN_EXECUTION_FIELD",
    path: "sampling.temprature",
    didYouMean: "temperature",
    supported: ["temperature", "reasoningIntent"],
  });
  expect(refusal(() => normalizeEnvelope("jobs", { input, budget: { ceiling: 1 } }))).toMatchObject({
    path: "budget.ceiling",
  });
});

test("executionMode is a field of invoke alone", () => {
  expect(normalizeEnvelope("invoke", { input, executionMode: "RequestResponse" }).executionMode).toBe(
    "RequestResponse",
  );
  expect(refusal(() => normalizeEnvelope("jobs", { input, executionMode: "DurableJob" }))).toMatchObject({
    code: "UNKNOWN_EXECUTION_FIELD",
    path: "executionMode",
  });
});

test("budget modes are trimmed and lower-cased, and an empty mode is absent", () => {
  const enforcement = (mode: string) =>
    normalizeEnvelope("jobs", { input, execution: { executionConstraints: { budgetEnforcement: mode } } })
      .execution.executionConstraints.budgetEnforcement;
  expect(enforcement(" Warn ")).toBe("warn");
  expect(enforcement("")).toBeNull();
  expect(refusal(() => enforcement("never"))).toMatchObject({
    at: "body.execution.executionConstraints.budgetEnforcement",
  });
});

test("a quote accepts model and options as parts of the input, bare or wrapped, and refuses a contradiction", () => {
  const wanted = normalizeEnvelope("quote", { input: { prompt: "x", model: "auto", quality: "low" } });
  expect(normalizeEnvelope("quote", { prompt: "x", model: "auto", options: { quality: "low" } })).toEqual(
    wanted,
  );
  expect(
    normalizeEnvelope("quote", { input: { prompt: "x" }, model: "auto", options: { quality: "low" } }),
  ).toEqual(wanted);
  expect(
    refusal(() => normalizeEnvelope("quote", { input: { prompt: "x", model: "a" }, model: "b" })),
  ).toMatchObject({ at: "body.options.model" });
});

test("a quote accepts no fields besides context, input and execution", () => {
  expect(refusal(() => normalizeEnvelope("quote", { input, tags: ["x"] }))).toMatchObject({
    code: "UNKNOWN_EXECUTION_FIELD",
    path: "tags",
  });
});

test("an idempotency key comes from the body or the header, and a blank one is absent", () => {
  expect(settleKey("a", undefined)).toEqual({ key: "a" });
  expect(settleKey(undefined, "b")).toEqual({ key: "b" });
  expect(settleKey("a", "a")).toEqual({ key: "a" });
  expect(settleKey("  ", undefined)).toBeUndefined();
  expect(settleKey(null, "")).toBeUndefined();
  expect(refusal(() => settleKey("a", "b"))).toMatchObject({ at: "body.idempotencyKey" });
  expect(refusal(() => settleKey(undefined, "x".repeat(256)))).toMatchObject({
    at: "body.idempotencyKey",
  });
  expect(settleKey(undefined, "🔑".repeat(255))).toEqual({ key: "🔑".repeat(255) });
  const sent = { key: "é", former: "Ã©" };
  expect(settleKey(undefined, sent)).toEqual(sent);
  expect(settleKey("é", sent)).toEqual(sent);
  expect(settleKey("Ã©", sent)).toEqual({ key: "Ã©" });
  expect(refusal(() => settleKey("e", sent))).toMatchObject({ at: "body.idempotencyKey" });
});
