import { expect, test } from "vitest";
import type { CompetitorOptions } from "@/server/contract/comparisons";
import {
  comparisonDraft,
  competitorCount,
  competitorName,
  competitorsOf,
  isEnough,
  isFull,
  NO_COMPETITORS,
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
const begun = (...providers: CompetitorOptions["providers"]) => comparisonDraft({ providers }).pins;
const recipe = (overrides: Recipe["overrides"], label = ""): Recipe => ({ id: "1", label, overrides });

test("the form starts with one model per available provider, or two models of the only provider", () => {
  expect(begun(model("a/1"), model("a/2"), model("b/1", false), model("b/2"), model("c/1"))).toEqual([
    "a/1",
    "b/2",
    "c/1",
  ]);
  expect(begun(model("a/1"), model("a/2"), model("a/3"))).toEqual(["a/1", "a/2"]);
  expect(begun(model("a/1"), model("b/1", false))).toEqual(["a/1"]);
  expect(begun(...["a/1", "b/1", "c/1", "d/1", "e/1"].map((pin) => model(pin)))).toHaveLength(4);
});

test("a comparison has two to four competitors", () => {
  const of = (count: number) => ({
    ...NO_COMPETITORS,
    pins: Array.from({ length: count }, (_, at) => `p/${at}`),
  });
  expect([1, 2, 4, 5].map((count) => isEnough(of(count)))).toEqual([false, true, true, false]);
  expect([3, 4].map((count) => isFull(of(count)))).toEqual([false, true]);
  expect(
    competitorCount({
      pins: ["a"],
      profiles: [{ profileKey: "p", profileVersion: "1" }],
      recipes: [recipe([])],
    }),
  ).toBe(3);
});

test("a recipe sends its changed fields, and null for a field that is left out; a field without a value is not sent", () => {
  const overrides = [
    { field: "prompt", value: "A barn", isLeftOut: false },
    { field: "seed", value: 7, isLeftOut: true },
    { field: "size", value: undefined, isLeftOut: false },
    { field: "transparent", value: false, isLeftOut: false },
  ];
  expect(competitorsOf({ ...NO_COMPETITORS, pins: ["a/1"], recipes: [recipe(overrides, " Barn ")] })).toEqual(
    [
      { axis: "provider", providerPin: "a/1" },
      { axis: "recipe", label: "Barn", inputOverrides: { prompt: "A barn", seed: null, transparent: false } },
    ],
  );
  expect(competitorsOf({ ...NO_COMPETITORS, recipes: [recipe([])] })).toMatchObject([{ label: "Recipe 1" }]);
});

test("a field that every competitor changes is not required in the request", () => {
  const other = (field: string) => ({ field, value: "x", isLeftOut: false });
  const recipes = [recipe([other("prompt"), other("size")]), recipe([other("prompt")])];
  expect(variedByAll({ ...NO_COMPETITORS, recipes })).toEqual(["prompt"]);
  expect(variedByAll({ ...NO_COMPETITORS, recipes, pins: ["a/1"] })).toEqual([]);
  expect(variedByAll(NO_COMPETITORS)).toEqual([]);
});

test("a competitor is shown by its own name", () => {
  expect(competitorName({ axis: "profile", profileKey: "draft", profileVersion: "2" })).toBe("draft 2");
  expect(competitorName({ axis: "recipe", inputOverrides: { prompt: "x" } })).toBe("Changed prompt");
});
