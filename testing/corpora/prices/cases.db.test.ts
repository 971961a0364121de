import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PriceTerms, priceAtMost, priceOf, serviceFee } from "@/server/domain/catalog/pricing/price";
import type { Usage } from "@/server/providers/define";
import { priceList } from "./prices";

type Case = {
  title: string;
  price: string;
  of: "usage" | "bounds";
  usage: Usage;
  terms: PriceTerms;
  expected: { upstreamMicros: number; serviceFeeMicros: number; totalMicros: number } | null;
};

const read = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "fixtures", `${name}.json`), "utf8"));
const cases: Case[] = read("cases");
const { prices, serviceFeeBps } = priceList();

test("the table's prices equal those of the catalog (after a change run `npm run prices` and cases.py)", () => {
  expect(read("prices")).toEqual(priceList());
});

test("the table has every kind of price, both tiers, bounds and unknown prices", () => {
  expect(cases.length).toBeGreaterThan(120);
  const kinds = new Set(cases.map(({ price }) => prices[price]?.per));
  expect([...kinds].sort()).toEqual([
    "image",
    "mesh",
    "million_characters",
    "million_tokens",
    "request",
    "second",
  ]);
  expect(cases.filter(({ terms, expected }) => terms.tier === "flex" && expected)).not.toEqual([]);
  expect(cases.filter(({ of }) => of === "bounds")).not.toEqual([]);
  expect(cases.filter(({ expected }) => expected === null)).not.toEqual([]);
});

test.each(cases.map((each, position) => [position + 1, each.price, each.title, each] as const))(
  "%i: %s, %s",
  (_position, name, _title, { of, usage, terms, expected }) => {
    const price = prices[name];
    if (!price) throw new Error(`no price ${name}`);
    const upstream = (of === "bounds" ? priceAtMost : priceOf)(price, usage, terms);
    if (upstream === null) return expect(expected).toBeNull();
    const fee = serviceFee(upstream, serviceFeeBps);
    expect({ upstreamMicros: upstream, serviceFeeMicros: fee, totalMicros: upstream + fee }).toEqual(
      expected,
    );
  },
);
