import { describe, expect, test } from "vitest";
import { booksOf, type CallMoney, moneyOf } from "./money";

const managed = {
  maximumMicros: 1_100,
  maximumUpstreamMicros: 1_000,
  serviceFeeBps: 1_000,
  billingMode: "managed",
} as const;
const byok = { ...managed, billingMode: "byok" } as const;
const call = (
  provider: string,
  settlement: CallMoney["settlement"],
  costMicros: number | null,
): CallMoney => ({ provider, settlement, costMicros, usage: null });

describe("the money of several calls", () => {
  test.each<[string, CallMoney[], [string, number][]]>([
    ["the last call", [call("one", "cost", 300), call("two", "hold", null)], [["one", 300], ["two", 700]]], // biome-ignore format: one case
    ["a first call", [call("one", "hold", null), call("two", "cost", 300)], [["one", 700], ["two", 300]]], // biome-ignore format: one case
    [
      "the last of two such calls",
      [call("one", "hold", null), call("two", "hold", null), call("three", "cost", 300)],
      [["one", 0], ["two", 700], ["three", 300]], // biome-ignore format: one case
    ],
    [
      "a call of the same provider",
      [call("one", "cost", 100), call("two", "cost", 200), call("one", "hold", null)],
      [["one", 800], ["two", 200]], // biome-ignore format: one case
    ],
    [
      "no one, where known costs are the whole hold",
      [call("one", "cost", 900), call("two", "cost", 500), call("three", "hold", null)],
      [["one", 900], ["two", 100], ["three", 0]], // biome-ignore format: one case
    ],
  ])("the rest of a hold goes to the provider of unknown cost: %s", (_which, calls, upstream) => {
    const money = moneyOf(managed, calls);
    expect(money).toMatchObject({ hold: "settled", costMicros: null, chargedMicros: 1_100, feeMicros: 100 });
    expect(Object.fromEntries(money.upstream)).toEqual(Object.fromEntries(upstream));
  });

  test("known costs go to the providers that caused them, and the fee is computed from their sum", () => {
    const calls = [call("one", "cost", 300), call("two", "cost", 200), call("one", "cost", 100)];
    expect(moneyOf(managed, calls)).toEqual({
      hold: "settled",
      costMicros: 600,
      chargedMicros: 660,
      feeMicros: 60,
      upstream: [
        ["one", 400],
        ["two", 200],
      ],
      exposureMicros: 0,
    });
  });

  test("a managed customer pays at most the hold, and a customer's own account pays the provider's full cost", () => {
    const calls = [call("one", "cost", 700), call("two", "cost", 350)];
    expect(moneyOf(managed, calls)).toMatchObject({ costMicros: 1_050, chargedMicros: 1_100, feeMicros: 50 });
    expect(moneyOf(byok, calls)).toMatchObject({ costMicros: 1_050, chargedMicros: 1_155, feeMicros: 105 });
    const dear = [call("one", "cost", 1_200)];
    expect(moneyOf(managed, dear)).toMatchObject({ costMicros: 1_200, chargedMicros: 1_100, feeMicros: 0 });
  });

  test.each<[CallMoney["settlement"][], object]>([
    [
      ["cost", "ambiguous", "hold"],
      { hold: "ambiguous", chargedMicros: null, exposureMicros: 0, upstream: [] },
    ],
    [["exposed"], { hold: "released", costMicros: null, chargedMicros: 0, exposureMicros: 1_000 }],
    [["released", "released"], { hold: "released", costMicros: 0, chargedMicros: 0, exposureMicros: 0 }],
    [["cost", "exposed"], { hold: "settled", costMicros: 400, chargedMicros: 440, exposureMicros: 600 }],
  ])("calls that settle as %j have the money %j", (settlements, money) => {
    const calls = settlements.map((settlement) =>
      call("one", settlement, settlement === "cost" ? 400 : null),
    );
    expect(moneyOf(managed, calls)).toMatchObject(money);
  });
});

test("the books of a customer's own account have no exposure, and a free execution has no entries", () => {
  const exposed = moneyOf(managed, [call("one", "exposed", null)]);
  const posted = (billingMode: "managed" | "byok") =>
    booksOf({ ...managed, billingMode }, exposed, "wallet:org_1", "one").postings;
  expect(posted("managed").length).toBeGreaterThan(0);
  expect(posted("byok")).toEqual([]);
  const free = { ...managed, maximumMicros: 0 };
  expect(booksOf(free, moneyOf(free, [call("one", "hold", null)]), "wallet:org_1", "one")).toMatchObject({
    costMicros: 0,
    holdState: null,
    postings: [],
  });
});
