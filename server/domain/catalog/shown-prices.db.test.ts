import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { env } from "@/server/platform/settings/env";
import type { Usage } from "@/server/providers/define";
import { setSettings } from "@/testing/settings";
import {
  allCapabilities,
  describeCapability,
  getCapability,
  type PriceTerms,
  priceOf,
  serviceFee,
  targetsOfPort,
} from ".";
import { toCapabilityItem } from "./describe";

const { OPENAI_API_KEY } = env;
afterEach(() => {
  setSettings({ OPENAI_API_KEY });
});

for (const capability of allCapabilities) {
  test(`${capability.key}: what it names for a quote is what the refusal of an empty request lists`, async () => {
    const { pricing } = describeCapability(capability, false);
    if (!pricing.quote.supported) {
      expect(pricing.quote.requirements).toEqual([]);
      return;
    }
    expect(pricing.quote.requirements.length).toBeGreaterThan(0);
    const lacking = capability.input
      .safeParse({})
      .error?.issues.map(({ path }) => `/input/${path.join("/")}`);
    expect(pricing.quote.requirements).toEqual(lacking);
    expect(pricing).toMatchObject({
      requiresInput: true,
      estimateAvailable: true,
      managed: true,
      byok: true,
    });
  });

  test(`${capability.key}: its examples are what its models' prices make, with the fee on managed alone`, () => {
    const { billingModes } = toCapabilityItem(capability, describeCapability(capability, false));
    if (!billingModes) return;
    for (const [billingMode, bps] of [
      ["byok", 0],
      ["managed", 600],
    ] as const) {
      const { examples, startingAt } = billingModes[billingMode].pricing;
      expect(examples.length).toBeGreaterThan(0);
      const totals = z
        .array(ExampleOfPrice)
        .parse(examples)
        .map((example) => {
          const { usage, terms } = split(example.basis);
          const model = targetsOfPort(capability).find(
            (each) => each.model.id === example.model && each.provider.name === example.provider,
          )?.model;
          const upstream = priceOf(model!.price, usage, terms) ?? -1;
          expect(example.chargeBasis.amountMicros).toBe(upstream);
          expect(example.serviceFee.amountMicros).toBe(serviceFee(upstream, bps));
          expect(example.customerTotal.amountMicros).toBe(upstream + serviceFee(upstream, bps));
          expect(example.billingMode).toBe(billingMode);
          return upstream + serviceFee(upstream, bps);
        });
      // An example shows one unit or several, such as ten seconds or a thousand characters.
      const units = {
        image: 1,
        mesh: 1,
        text: null,
        video: 10,
        audio: capability.key.includes("voice") ? 0.001 : 10,
      };
      const shown = units[capability.modality as keyof typeof units];
      if (shown == null) expect(startingAt).toBeNull();
      else expect(Math.abs((startingAt?.amountMicros ?? 0) * shown - Math.min(...totals))).toBeLessThan(10);
    }
  });
}

const Amount = z.object({ amountMicros: z.int().positive().or(z.literal(0)) });
const ExampleOfPrice = z.object({
  provider: z.string(),
  model: z.string(),
  billingMode: z.string(),
  basis: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
  chargeBasis: Amount,
  serviceFee: Amount,
  customerTotal: Amount,
});

function split({ quality, width, height, textured, ...usage }: Record<string, number | string | boolean>) {
  return { usage: usage as Usage, terms: { quality, width, height, textured } as PriceTerms };
}

test("the published price is that of the reachable models, with real ones before the sandbox", () => {
  const image = getCapability("image.generate.v1");
  const text = getCapability("text.general.fast.v1");
  const here = describeCapability(image, false).billingModes;
  expect(here?.managed.pricing).toMatchObject({
    mode: "fixed",
    display: "from $0.0053 per image",
    startingAt: { amountMicros: 5_300, display: "$0.005300" },
  });
  expect(here?.byok.pricing.display).toBe("from $0.005 per image, paid to the provider");
  setSettings({ OPENAI_API_KEY: "a key" });
  const { billingModes: reachable, pricing } = describeCapability(image, false);
  expect(reachable?.byok.pricing.startingAt?.amountMicros).toBe(5_000);
  expect(pricing.examples[0]).toMatchObject({
    provider: "openai",
    model: "gpt-image-2",
    basis: { images: 1, quality: "low", width: 1024, height: 1024 },
    chargeBasis: { amountMicros: 6_000 },
    customerTotal: { amountMicros: 6_360 },
  });
  expect(describeCapability(text, false).pricing.display).toBe(
    "from $0.40 in, $1.60 out per million tokens, plus 6%",
  );
});

test("images list four pricing factors, text three, and a free capability none", () => {
  const factors = (key: string) =>
    describeCapability(getCapability(key), false).pricing.pricingFactors.map(
      ({ key: name, kind, requiredForEstimate }) => [name, kind, requiredForEstimate],
    );
  expect(factors("image.generate.v1")).toEqual([
    ["model", "selection", true],
    ["quality", "selection", false],
    ["size", "selection", false],
    ["variantCount", "selection", false],
  ]);
  expect(factors("text.general.fast.v1")).toEqual([
    ["model", "selection", true],
    ["inputTokens", "measured-usage", false],
    ["maxOutputTokens", "usage-ceiling", false],
  ]);
  expect(factors("compute.evaluate.v1")).toEqual([]);
});
