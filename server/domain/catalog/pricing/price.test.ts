import fc from "fast-check";
import { expect, test } from "vitest";
import type { Price, Usage } from "@/server/providers/define";
import openai from "@/server/providers/openai";
import { providers } from "@/server/providers/registry.gen";
import { campaign } from "@/testing/campaign";
import { hasListedPrice, type PriceTerms, priceAtMost, priceOf, serviceFee } from "./price";

const models = providers.flatMap((provider) => provider.models);
const image = (id: string) => {
  const model = openai.models.find((each) => each.id === id);
  if (!model) throw new Error(`no ${id}`);
  return (quality: string, width: number, height: number, images = 1) =>
    priceOf(model.price, { images }, { quality, width, height });
};

test("images of a listed size cost what the vendor's table states, by size and quality", () => {
  const first = image("gpt-image-1");
  expect(["low", "medium", "high", "standard", "auto"].map((quality) => first(quality, 1024, 1024))).toEqual([
    11_000, 42_000, 167_000, 42_000, 167_000,
  ]);
  expect(first("medium", 1024, 1536)).toBe(63_000);
  expect(first("high", 1536, 1024, 4)).toBe(1_000_000);
  const second = image("gpt-image-2");
  expect(["low", "medium", "high"].map((quality) => second(quality, 1024, 1024))).toEqual([
    6_000, 53_000, 211_000,
  ]);
  expect(["low", "medium", "high"].map((quality) => second(quality, 1536, 1024))).toEqual([
    5_000, 41_000, 165_000,
  ]);
});

test("an unlisted size is priced by area, never below any listed size, and never lower for a larger one", () => {
  const price = openai.models.find(({ id }) => id === "gpt-image-2")!.price;
  const edge = fc.integer({ min: 256, max: 3840 });
  fc.assert(
    fc.property(
      edge,
      edge,
      edge,
      fc.constantFrom("low", "medium", "high", "auto"),
      (width, height, more, quality) => {
        const of = (terms: PriceTerms) => priceOf(price, { images: 1 }, { quality, ...terms }) ?? 0;
        fc.pre(
          !hasListedPrice(price, { quality, width, height }) &&
            !hasListedPrice(price, { quality, width, height: height + more }),
        );
        const here = of({ width, height });
        expect(of({ width, height: height + more })).toBeGreaterThanOrEqual(here);
        for (const listed of [
          { width: 1024, height: 1024 },
          { width: 1536, height: 1024 },
        ])
          if (width * height !== 1024 * 1024 && width * height !== 1536 * 1024)
            expect(here).toBeGreaterThanOrEqual(of(listed));
      },
    ),
    campaign.runs({ small: 100, full: 1_000 }),
  );
  expect(image("gpt-image-2")("medium", 2048, 2048)).toBe(212_000);
});

test("the reported number of images is priced with one rounding up, and an unknown number gives null", () => {
  const price = { per: "image", sizes: [{ width: 10, height: 10, micros: { low: 10, high: 40 } }] } as const;
  const of = (usage: Usage, terms: PriceTerms) => priceOf(price as unknown as Price, usage, terms);
  expect(of({ images: 3 }, { quality: "low", width: 25, height: 10 })).toBe(75);
  expect(of({ images: 3 }, { quality: "low", width: 101, height: 1 })).toBe(31);
  expect(of({ images: 0 }, { quality: "low" })).toBe(0);
  expect(of({}, { quality: "low" })).toBeNull();
});

test("cached and reasoning tokens are parts of the whole, and have their own rates if the vendor lists them", () => {
  const price: Price = { per: "million_tokens", input: 1_000_000, cachedInput: 100_000, output: 6_000_000 };
  expect(priceOf(price, { inputTokens: 1_000, outputTokens: 500 })).toBe(4_000);
  expect(
    priceOf(price, { inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 500, reasoningTokens: 300 }),
  ).toBe(3_640);
  expect(priceOf(price, { inputTokens: 10, cachedInputTokens: 400, outputTokens: 0 })).toBe(1);
  expect(
    priceOf({ ...price, reasoning: 3_000_000 }, { inputTokens: 0, outputTokens: 500, reasoningTokens: 300 }),
  ).toBe(2_100);
});

test("tokens written to a cache have the rate of their time, or the input rate if the vendor lists none", () => {
  const price: Price = {
    per: "million_tokens",
    input: 1_000_000,
    cachedInput: 100_000,
    cacheWrite: { "5m": 1_250_000, "1h": 2_000_000 },
    output: 0,
  };
  const { cacheWrite: _none, ...plain } = price;
  const usage = { inputTokens: 1_000, cachedInputTokens: 400, cacheWriteTokens: 300, outputTokens: 0 };
  expect(priceOf(price, usage)).toBe(300 + 40 + 375);
  expect(priceOf(price, { ...usage, cacheWriteHourTokens: 100 })).toBe(300 + 40 + 250 + 200);
  expect(priceOf(plain, { ...usage, cacheWriteHourTokens: 100 })).toBe(640);
  // The parts never exceed the whole.
  expect(priceOf(price, { ...usage, cacheWriteTokens: 9_999, cacheWriteHourTokens: 99_999 })).toBe(
    40 + 1_200,
  );
});

test("tokens that may be written to a cache are bounded at the dearest rate", () => {
  const price: Price = {
    per: "million_tokens",
    input: 1_000_000,
    cacheWrite: { "5m": 1_250_000, "1h": 2_000_000 },
    output: 0,
  };
  expect(priceAtMost(price, { inputTokens: 1_000, outputTokens: 0 })).toBe(1_000);
  expect(priceAtMost(price, { inputTokens: 1_000, cacheWriteTokens: 1_000, outputTokens: 0 })).toBe(2_000);
});

test("a flex discount applies to every token rate with one rounding; without a listed discount the flex price is null", () => {
  const price: Price = { per: "million_tokens", input: 3, cachedInput: 1, output: 7, flexDiscountBps: 5_000 };
  const usage = { inputTokens: 333_333, cachedInputTokens: 111_111, outputTokens: 99_999 };
  const list = 222_222 * 3 + 111_111 + 99_999 * 7;
  expect(priceOf(price, usage)).toBe(Math.ceil(list / 1_000_000));
  expect(priceOf(price, usage, { tier: "flex" })).toBe(Math.ceil(list / 2_000_000));
  const { flexDiscountBps: _none, ...plain } = price;
  expect(priceOf(plain, usage, { tier: "flex" })).toBeNull();
  expect(priceOf({ per: "mesh", micros: 1 }, { meshes: 1 }, { tier: "flex" })).toBeNull();
});

test("seconds, characters and meshes are priced by the unit", () => {
  expect(priceOf({ per: "second", micros: 400_000 }, { durationMs: 7_500 })).toBe(3_000_000);
  expect(priceOf({ per: "second", micros: 1_667 }, { durationMs: 1 })).toBe(2);
  expect(priceOf({ per: "million_characters", micros: 15_000_000 }, { characters: 41 })).toBe(615);
  expect(priceOf({ per: "million_characters", micros: 15_000_001 }, { characters: 1 })).toBe(16);
  expect(priceOf({ per: "mesh", micros: 400_000 }, { meshes: 2 })).toBe(800_000);
  for (const price of [
    { per: "second", micros: 1 },
    { per: "million_characters", micros: 1 },
    { per: "mesh", micros: 1 },
  ] as const)
    expect(priceOf(price, { inputTokens: 1, outputTokens: 1, images: 1 })).toBeNull();
});

test("a reported value that is no count gives a null price", () => {
  const price: Price = { per: "million_tokens", input: 1, output: 1 };
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53])
    for (const field of [
      ...["inputTokens", "cachedInputTokens", "cacheWriteTokens", "cacheWriteHourTokens"],
      ...["outputTokens", "reasoningTokens"],
    ])
      expect(priceOf(price, { inputTokens: 1, outputTokens: 1, [field]: wrong })).toBeNull();
});

test("no usage inside its bounds costs more than the bound, at either tier", () => {
  const token = fc.nat(3_000_000);
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const rate = fc.nat(60_000_000);
  fc.assert(
    fc.property(
      rate,
      rate,
      rate,
      rate,
      rate,
      token,
      token,
      fc.array(part, { minLength: 6, maxLength: 6 }),
      (...drawn) => {
        const [input, cachedInput, written, output, reasoning, most, mostOut, parts] = drawn;
        const price: Price = {
          per: "million_tokens",
          input,
          cachedInput,
          cacheWrite: { "5m": written, "1h": input },
          output,
          reasoning,
          flexDiscountBps: 5_000,
        };
        const bounds = { inputTokens: most, cacheWriteTokens: most, outputTokens: mostOut };
        const inputTokens = Math.floor(most * (parts[0] ?? 0));
        const outputTokens = Math.floor(mostOut * (parts[1] ?? 0));
        const usage = {
          inputTokens,
          outputTokens,
          cachedInputTokens: Math.floor(inputTokens * (parts[2] ?? 0)),
          reasoningTokens: Math.floor(outputTokens * (parts[3] ?? 0)),
          cacheWriteTokens: Math.floor(inputTokens * (parts[4] ?? 0)),
          cacheWriteHourTokens: Math.floor(inputTokens * (parts[5] ?? 0)),
        };
        for (const tier of ["standard", "flex"] as const)
          expect(priceOf(price, usage, { tier })).toBeLessThanOrEqual(
            priceAtMost(price, bounds, { tier }) ?? -1,
          );
        expect(priceAtMost(price, bounds, { tier: "flex" })).toBeLessThanOrEqual(
          priceAtMost(price, bounds) ?? -1,
        );
      },
    ),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});

test("every price of the catalog is in whole micros, and exactly the deferrable models have a flex discount", () => {
  const numbers = (value: unknown): number[] =>
    typeof value === "number"
      ? [value]
      : value && typeof value === "object"
        ? Object.values(value).flatMap(numbers)
        : [];
  for (const { price, supports, port } of models) {
    // Embedding models output no tokens, so their output costs nothing.
    const all = numbers(price).filter((number) => number !== 0 || port !== "embedding");
    expect(all.length).toBeGreaterThan(0);
    // Only a look-up may cost nothing. A price of 0 for other work would be a missing price.
    const least = price.per === "request" ? 0 : 1;
    for (const number of all) expect(Number.isSafeInteger(number) && number >= least).toBe(true);
    expect(price.per === "million_tokens" && price.flexDiscountBps === 5_000).toBe(
      Boolean(supports.deferred),
    );
  }
});

test("a fee is rounded to the nearest micro, half a micro up", () => {
  const bps = 600;
  expect([0, 8, 9, 25, 24, 1_000_000].map((micros) => serviceFee(micros, bps))).toEqual([
    0, 0, 1, 2, 1, 60_000,
  ]);
});
