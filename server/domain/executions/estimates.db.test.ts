import fc from "fast-check";
import { expect, test } from "vitest";
import { priceOf } from "@/server/domain/catalog";
import { toSecrets } from "@/server/platform/crypto/secret";
import { type Delivered, ProviderFault, type TextCall, type Usage } from "@/server/providers/define";
import { countedUsage, deliveredOf, reported } from "@/server/providers/ends";
import provider from "@/server/providers/openai";
import { campaign } from "@/testing/campaign";
import { send } from "./call";
import { type CallFailed, type Observed, unusable } from "./call-outcome";
import { type CallTerms, chargedAsDelivered } from "./classify";
import { estimatedUsage, requestSizeOf } from "./estimated-usage";
import { booksOf, type CallMoney, moneyOf } from "./money";
import { kindOfResult, rowOf } from "./outcomes";
import { joined } from "./repair";

/* Tests the charge of work whose provider reports no usage. */

const FEE_BPS = 600;
const MODEL = provider.models.find(({ id }) => id === "gpt-4.1-mini")!; // OpenAI lists such a model
const asked = requestSizeOf({
  messages: [{ role: "user", content: "Name a fish." }],
  responseFormat: { type: "text" },
} as TextCall)!; // a call for text always has an estimate
const call: Omit<CallTerms, "account" | "route" | "bounds"> = {
  asked,
  open: async () => ({ baseUrl: "http://127.0.0.1:9", credentials: toSecrets({ apiKey: "sk-tests" }) }),
  attemptId: "att_1",
  tier: "standard",
  signal: new AbortController().signal,
  now: () => new Date(),
};

type Drawn = {
  hiddenOutput: number | undefined;
  isOwn: boolean;
  /**
   * A complete answer; a complete answer that is unusable although its text reached the caller; or an error
   * after output.
   */
  end: "whole" | "unusable" | "error";
  usage: Usage | null;
  delivered: Delivered;
  most: { input: number; output: number };
};

const figure = fc.integer({ min: 0, max: 3_000 });
const words = fc.integer({ min: 0, max: 60 }).map((count) => "fish ".repeat(count));
const drawn: fc.Arbitrary<Drawn> = fc.record({
  hiddenOutput: fc.constantFrom(undefined, 1, 7.3),
  isOwn: fc.boolean(),
  end: fc.constantFrom("whole", "unusable", "error"),
  usage: fc.oneof(
    fc.constantFrom<Usage | null>(null, {}, { inputTokens: 0, outputTokens: 0 }),
    fc.record({ inputTokens: figure, outputTokens: figure }, { requiredKeys: [] }),
  ),
  delivered: fc.record({ text: words, reasoning: words, calls: words }),
  most: fc.record({ input: fc.integer({ min: 1, max: 200 }), output: fc.integer({ min: 1, max: 500 }) }),
});

async function outcomeOf({ hiddenOutput, isOwn, end, usage, delivered: written, most }: Drawn) {
  const { hiddenOutput: _, ...facts } = MODEL;
  const model = { ...facts, ...(hiddenOutput === undefined ? {} : { hiddenOutput }) };
  const account = isOwn ? { credentialId: "cred_none" } : "operator";
  const delivered = deliveredOf(written);
  const before = { usage, delivered };
  return send(
    { ...call, account, route: { provider, model }, bounds: { outputTokens: most.output } },
    async () => {
      if (end === "error")
        throw new ProviderFault("failed", "attempted", "no", {
          usage: countedUsage(usage, delivered),
          ...(delivered ? { delivered } : {}),
        });
      return {
        state: "done",
        result: null,
        providerRequestId: null,
        providerModel: null,
        httpStatus: 200,
        ...reported(before),
      };
    },
  );
}

/** The money of the drawn call, with its observed facts. */
async function moneyFrom(one: Drawn): Promise<CallMoney & { observed: Observed }> {
  const outcome = await outcomeOf(one);
  const toMoney = ({ settlement, observed }: Pick<CallFailed, "settlement" | "observed">) => ({
    provider: "openai",
    settlement,
    costMicros: observed.costMicros,
    usage: observed.usage,
    isPartial: observed.estimated === "partial",
    observed,
  });
  if (outcome.state === "failed") return toMoney(outcome);
  if (outcome.state !== "answered") throw new Error(`ended as ${outcome.state}`);
  const { observed } = outcome;
  if (one.end === "unusable") return toMoney(chargedAsDelivered(unusable("no", observed)));
  return toMoney({ settlement: rowOf(kindOfResult(observed.costMicros)).settlement, observed });
}

test("a delivered token is never free, no managed charge exceeds its hold, and the books balance", async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (one) => {
      const { isOwn, delivered, most, hiddenOutput, end } = one;
      const upstream = priceOf(MODEL.price, { inputTokens: most.input, outputTokens: most.output })!; // a priced model
      const fee = Math.round((upstream * FEE_BPS) / 10_000);
      const terms = {
        maximumUpstreamMicros: upstream,
        maximumMicros: isOwn ? upstream : upstream + fee,
        serviceFeeBps: isOwn ? 0 : FEE_BPS,
        billingMode: isOwn ? ("byok" as const) : ("managed" as const),
      };
      const { observed, ...paid } = await moneyFrom(one);
      const money = moneyOf(terms, [paid]);
      const { postings } = booksOf(terms, money, "wallet:org_1", "openai/gpt");
      expect(postings.reduce((sum, { amount_micros }) => sum + amount_micros, 0)).toBe(0);
      const charged = money.chargedMicros ?? 0;
      if (!isOwn) expect(charged).toBeLessThanOrEqual(terms.maximumMicros);
      const isDelivered = deliveredOf(delivered) !== null;
      if (isDelivered) expect(charged).toBeGreaterThan(0);
      // A complete answer is charged in full: by its usage, by an estimate if nothing is hidden, or by the
      // hold.
      if (end === "whole" && isDelivered && money.costMicros === null) {
        expect({ isOwn, isHiding: hiddenOutput !== 1 }).toEqual({ isOwn: false, isHiding: true });
        expect(charged).toBe(terms.maximumMicros);
      }
      if (observed.estimated === "partial")
        expect(money.exposureMicros).toBe(Math.max(0, upstream - (money.costMicros ?? 0)));
      else if (paid.settlement === "cost") expect(money.exposureMicros).toBe(0);
    }),
    campaign.runs({ small: 150, full: 3_000 }),
  );
});

const HELLO: Delivered = { text: "A cod swims by.", reasoning: "", calls: "" };
const LOOSE = { isOwn: false, usage: null, delivered: HELLO, most: { input: 1_000, output: 1_000 } } as const;

test("an error after output is charged by its model's factor, within the output that the request allows", async () => {
  const costOf = async (hiddenOutput: number | undefined, output = 1_000) => {
    const most = { input: 1_000, output };
    return (await moneyFrom({ ...LOOSE, hiddenOutput, end: "error", most })).costMicros!; // has an estimate
  };
  const [plain, hiding] = [await costOf(1), await costOf(7.3)];
  const { inputTokens, outputTokens } = await estimatedUsage(asked(), HELLO, {
    model: MODEL,
    reported: null,
    hiddenOutput: 1,
  });
  expect(plain).toBe(priceOf(MODEL.price, { inputTokens: inputTokens!, outputTokens: outputTokens! }));
  expect(hiding).toBe(
    priceOf(MODEL.price, { inputTokens: inputTokens!, outputTokens: Math.ceil(outputTokens! * 7.3) }),
  );
  expect(await costOf(undefined), "what a model hides is not known").toBe(plain);
  expect(await costOf(7.3, 1), "no more than the request allows").toBe(plain);
});

test("zeros from a server that does not count tokens are treated as no usage", async () => {
  const zeros = { inputTokens: 0, outputTokens: 0 };
  const { costMicros } = await moneyFrom({ ...LOOSE, usage: zeros, hiddenOutput: 1, end: "whole" });
  const { costMicros: unreported } = await moneyFrom({ ...LOOSE, hiddenOutput: 1, end: "whole" });
  expect(costMicros).toBe(unreported);
});

test("vectors without usage are estimated from the input, also on a managed account", async () => {
  const model = provider.models.find(({ port }) => port === "embedding")!; // OpenAI lists such a model
  const outcome = await send(
    {
      ...call,
      account: "operator",
      asked: requestSizeOf({ texts: ["one fish", "two fish"] }),
      bounds: {},
      route: { provider, model },
    },
    async () => ({
      state: "done",
      result: null,
      usage: null,
      delivered: { text: "", reasoning: "", calls: "" },
      providerRequestId: null,
      providerModel: null,
      httpStatus: 200,
    }),
  );
  expect(outcome).toMatchObject({ observed: { estimated: "whole", costMicros: 1 } });
});

test("the sum of an answer and its repair is an estimate if either is, and partial if one is unknown", () => {
  const known = { costMicros: 10, usage: { inputTokens: 1, outputTokens: 1 } };
  const of = (more: Partial<Observed>): Observed => ({
    submission: "attempted",
    providerRequestId: null,
    providerModel: null,
    httpStatus: 200,
    tier: "standard",
    ...known,
    ...more,
  });
  const fault = { message: "no", details: {}, code: "StructuredOutputInvalid" } as never; // reads no other member
  const sum = (first: Observed, second: Observed, state: "succeeded" | "failed" = "succeeded") =>
    joined(
      { state: "unfit", observed: first, answer: null, fault },
      state === "succeeded"
        ? { state, observed: second, typedOutput: null, files: [], finishReason: null }
        : unusable("no", second),
    );
  expect(sum(of({}), of({}))).not.toHaveProperty("observed.estimated");
  expect(sum(of({ estimated: "whole" }), of({}))).toMatchObject({
    observed: { estimated: "whole", costMicros: 20, submissions: 2 },
  });
  expect(sum(of({ estimated: "whole" }), of({ estimated: "partial" }))).toMatchObject({
    observed: { estimated: "partial", costMicros: 20 },
  });
  expect(sum(of({ costMicros: null, usage: null }), of({}), "failed")).toMatchObject({
    settlement: "cost",
    observed: { estimated: "partial", costMicros: 10 },
  });
});
