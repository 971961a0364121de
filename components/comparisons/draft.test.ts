import { expect, test } from "vitest";
import type { CompetitorOptions } from "@/server/contract/comparisons";
import {
  competitorName,
  competitorsOf,
  countOf,
  draftOf,
  isEnough,
  isFull,
  NOBODY,
  type Recipe,
  variedByAll,
} from "./draft";

const model = (providerPin: string, available = true) => ({
  providerPin,
  provider: providerPin.split("/")[0] ?? "",
  model: "m",
  title: providerPin,
  available,
  reason: available ? null : "No account is connected.",
});
const begun = (...providers: CompetitorOptions["providers"]) => draftOf({ providers }).pins;
const recipe = (overrides: Recipe["overrides"], label = ""): Recipe => ({ id: "1", label, overrides });

test("the form begins with one model of each provider that is there, and with two of an only one", () => {
  expect(begun(model("a/1"), model("a/2"), model("b/1", false), model("b/2"), model("c/1"))).toEqual([
    "a/1",
    "b/2",
    "c/1",
  ]);
  expect(begun(model("a/1"), model("a/2"), model("a/3"))).toEqual(["a/1", "a/2"]);
  expect(begun(model("a/1"), model("b/1", false))).toEqual(["a/1"]);
  expect(begun(...["a/1", "b/1", "c/1", "d/1", "e/1"].map((pin) => model(pin)))).toHaveLength(4);
});

test("two to four compete", () => {
  const of = (count: number) => ({ ...NOBODY, pins: Array.from({ length: count }, (_, at) => `p/${at}`) });
  expect([1, 2, 4, 5].map((count) => isEnough(of(count)))).toEqual([false, true, true, false]);
  expect([3, 4].map((count) => isFull(of(count)))).toEqual([false, true]);
  expect(
    countOf({ pins: ["a"], profiles: [{ profileKey: "p", profileVersion: "1" }], recipes: [recipe([])] }),
  ).toBe(3);
});

test("a recipe says what it has otherwise: a value, or nothing; a field without a value is not varied", () => {
  const overrides = [
    { field: "prompt", value: "A barn", isLeftOut: false },
    { field: "seed", value: 7, isLeftOut: true },
    { field: "size", value: undefined, isLeftOut: false },
    { field: "transparent", value: false, isLeftOut: false },
  ];
  expect(competitorsOf({ ...NOBODY, pins: ["a/1"], recipes: [recipe(overrides, " Barn ")] })).toEqual([
    { axis: "provider", providerPin: "a/1" },
    { axis: "recipe", label: "Barn", inputOverrides: { prompt: "A barn", seed: null, transparent: false } },
  ]);
  expect(competitorsOf({ ...NOBODY, recipes: [recipe([])] })).toMatchObject([{ label: "Recipe 1" }]);
});

test("what every competitor has otherwise, nobody takes from the request", () => {
  const other = (field: string) => ({ field, value: "x", isLeftOut: false });
  const recipes = [recipe([other("prompt"), other("size")]), recipe([other("prompt")])];
  expect(variedByAll({ ...NOBODY, recipes })).toEqual(["prompt"]);
  expect(variedByAll({ ...NOBODY, recipes, pins: ["a/1"] })).toEqual([]);
  expect(variedByAll(NOBODY)).toEqual([]);
});

test("a competitor is called as it was named", () => {
  expect(competitorName({ axis: "profile", profileKey: "draft", profileVersion: "2" })).toBe("draft 2");
  expect(competitorName({ axis: "recipe", inputOverrides: { prompt: "x" } })).toBe("Other prompt");
});
