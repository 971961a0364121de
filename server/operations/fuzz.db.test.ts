import fc from "fast-check";
import { expect, test } from "vitest";
import { call, makeTenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";

/* Envelopes that no client would write: each is answered with a job, or with a refusal that names the faulty field. */

const messages = [{ role: "user", content: "Hello" }];
const scalar = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    "",
    " ",
    0,
    -1,
    1.5,
    5,
    1e300,
    -0,
    "x".repeat(300),
    "\u{1f600}",
    "__proto__",
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const anything = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom([], {}, [[]], [{}], { a: 1 }, { __proto__: 1 }) },
);
const mostly = <T>(good: T) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: anything });

const constraints = {
  maxCostUsd: mostly(1),
  providerPin: mostly("sandbox"),
  preferredModel: mostly("sandbox-1"),
  autoSelect: mostly(true),
  budgetEnforcement: mostly("warn"),
  maxDurationSeconds: mostly(30),
  timeoutSeconds: mostly(30),
  queueDeadlineSeconds: mostly(60),
};
const options = {
  executionPreference: mostly("automatic"),
  billingMode: mostly("managed"),
  credentialSource: mostly("platform"),
  quoteId: mostly(null),
  estimateId: mostly(null),
  maximumCharge: mostly({}),
};
const partial = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) =>
  fc.record(fields, { requiredKeys: [] });
const requiring = <T extends Record<string, fc.Arbitrary<unknown>>>(name: keyof T & string, fields: T) =>
  fc.record(fields, { requiredKeys: [name] });
const or = (good: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 40, arbitrary: good }, { weight: 1, arbitrary: anything });

const textInput = requiring("messages", {
  messages: mostly(messages),
  maxOutputTokens: mostly(10),
  responseFormat: mostly("json_object"),
  responseSchema: mostly({ type: "object" }),
});
const imageInput = requiring("prompt", {
  prompt: mostly("A kite"),
  width: mostly(816),
  height: mostly(816),
  variantCount: mostly(2),
  quality: mostly("low"),
  model: mostly("auto"),
  referenceImages: mostly([]),
});

/** The part that a quote accepts; the rest is left out of most quotes. */
const QUOTED = [
  "input",
  "context",
  "execution",
  "billingMode",
  "preferredModel",
  "max_cost_usd",
  "timeout_seconds",
];

const envelope = (input: fc.Arbitrary<unknown>) =>
  fc
    .tuple(
      requiring("input", {
        input: or(input),
        context: or(
          partial({
            productId: mostly("shop"),
            environment: mostly("development"),
            projectId: mostly(null),
            dataClassification: mostly("Public"),
            retentionRequirement: mostly("Transient"),
          }),
        ),
        execution: or(partial({ ...options, executionConstraints: or(partial(constraints)) })),
        budget: or(partial({ enforcement: mostly("off"), maximumEstimatedCost: mostly(1) })),
        sampling: or(partial({ temperature: mostly(1), reasoningIntent: mostly("omit") })),
        pin: or(fc.record({ target: mostly("sandbox/sandbox-1") })),
        externalRef: mostly("r"),
        tags: mostly(["a"]),
        metadata: mostly({ a: 1 }),
        responseSchema: mostly({ type: "object" }),
        toolSchemas: mostly([]),
        readerDelivery: mostly(null),
        maturityRating: mostly("G"),
        matureContentTraits: mostly([]),
        maturitySource: mostly("explicit_invocation"),
        inputPayloadRef: mostly(null),
        idempotencyKey: or(fc.string({ maxLength: 300 })),
        correlationId: mostly("c"),
        taskKind: mostly("t"),
        billingMode: mostly("managed"),
        max_cost_usd: mostly(1),
        preferredModel: mostly("sandbox-1"),
        timeout_seconds: mostly(30),
      }),
      fc.oneof(
        { weight: 10, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.dictionary(fc.string(), anything) },
      ),
    )
    .map(([known, strange]): Record<string, unknown> => ({ ...known, ...strange }));

/** A capability and a body for it. */
const request = fc.oneof(
  fc.tuple(fc.constantFrom("text.general.fast.v1", "text.structured.generation.v1"), envelope(textInput)),
  fc.tuple(fc.constant("image.generate.v1"), envelope(imageInput)),
);
const isQuoted = ([name]: [string, unknown]) => QUOTED.includes(name);

for (const what of ["jobs", "quote"]) {
  test(`envelopes through ${what}: never a 500, and every refusal names its field`, async () => {
    const { key } = await makeTenant();
    const answered = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(request, async ([name, drawn]) => {
        const isWhole = what === "jobs" || Object.keys(drawn).length % 5 === 0;
        const body = isWhole ? drawn : Object.fromEntries(Object.entries(drawn).filter(isQuoted));
        const { status, json } = await call("POST", `/v1/capabilities/${name}/${what}`, { key, body });
        answered.set(status, (answered.get(status) ?? 0) + 1);
        if (status === 200) return;
        expect([402, 403, 409, 422]).toContain(status);
        if (Array.isArray(json.detail)) {
          expect(json.detail.length).toBeGreaterThan(0);
          for (const { loc, msg } of json.detail) {
            expect(loc[0]).toBe("body");
            expect(msg).toMatch(/^(?!Too (small|big)|Invalid input|Unrecognized)\S/);
          }
          return;
        }
        expect(json.detail.code).toMatch(/\S/);
        if (status !== 422) return;
        const { path, details, field } = json.detail;
        expect(path ?? field ?? details?.field ?? details?.fields?.[0]).toEqual(expect.any(String));
      }),
      campaign.runs({ small: 80, full: 1_000 }),
    );
    expect(answered.get(200)).toBeGreaterThan(campaign.size({ small: 2, full: 10 }));
    expect(answered.get(422)).toBeGreaterThan(campaign.size({ small: 15, full: 100 }));
  }, 120_000);
}

const competitor = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .constantFrom("1", "2", "slow")
      .map((model) => ({ axis: "provider", providerPin: `sandbox/sandbox-${model}` })),
  },
  { weight: 2, arbitrary: fc.record({ axis: mostly("provider"), providerPin: anything }) },
  {
    weight: 6,
    arbitrary: requiring("axis", {
      axis: mostly("recipe"),
      label: mostly("A"),
      inputOverrides: or(partial({ maxOutputTokens: mostly(20), messages: mostly(messages) })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      axis: fc.constant("recipe"),
      inputOverrides: fc.dictionary(fc.string(), anything),
    }),
  },
  {
    weight: 6,
    arbitrary: requiring("profileKey", {
      axis: mostly("profile"),
      profileKey: fc.constantFrom("reasoning-economy", "reasoning-deep", "__proto__"),
      profileVersion: mostly("1"),
    }),
  },
  { weight: 1, arbitrary: anything },
);
const comparison = requiring("competitors", {
  competitors: or(fc.array(competitor, { minLength: 2, maxLength: 4 })),
  input: or(textInput),
});
const created = fc
  .tuple(
    comparison,
    partial({
      intent: mostly("exploratory"),
      workloadTags: mostly({ a: 1 }),
      idempotencyKey: or(fc.string({ maxLength: 300 })),
    }),
    fc.record({ context: mostly({}) }),
  )
  .map(([asked, more, { context }]): Record<string, unknown> => ({ ...asked, ...more, context }));

for (const [what, body] of [
  ["comparisons", created],
  ["comparisons/estimate", comparison],
] as const) {
  test(`bodies through ${what}: never a 500, and every refusal names its field`, async () => {
    const { key } = await makeTenant();
    const answered = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(body, async (drawn) => {
        const target = `/v1/capabilities/text.general.fast.v1/${what}`;
        const { status, json } = await call("POST", target, { key, body: drawn });
        answered.set(status, (answered.get(status) ?? 0) + 1);
        if (status === 200) return;
        expect([402, 403, 409, 422]).toContain(status);
        if (!Array.isArray(json.detail)) {
          const { code, details } = json.detail;
          if (code !== "IdempotencyConflict") expect(details.competitor).toEqual(expect.any(Number));
          return;
        }
        expect(json.detail.length).toBeGreaterThan(0);
        for (const { loc, msg } of json.detail) {
          expect(loc[0]).toBe("body");
          expect(msg).toMatch(/^(?!Too (small|big)|Invalid input|Unrecognized)\S/);
        }
      }),
      campaign.runs({ small: 80, full: 500 }),
    );
    expect(answered.get(200)).toBeGreaterThan(campaign.size({ small: 2, full: 10 }));
    expect(answered.get(422)).toBeGreaterThan(campaign.size({ small: 15, full: 50 }));
  }, 120_000);
}
