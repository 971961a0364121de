import { expect, test } from "vitest";
import { adapterOf } from "@/components/adapters/adapter.fixture";
import { diffOf, isSameTarget, weightWords } from "./diff";

const changed = (...targets: Parameters<typeof diffOf>) =>
  Object.fromEntries(
    diffOf(...targets).flatMap(({ name, before, after, isChanged }) =>
      isChanged ? [[name, [before, after]]] : [],
    ),
  );

test("a target has no differences from itself", () => {
  const target = { adapter: adapterOf(), weight: null };
  expect(changed(target, target)).toEqual({});
  expect(isSameTarget(target, { adapter: adapterOf(), weight: null })).toBe(true);
  expect(isSameTarget(target, { adapter: adapterOf(), weight: 0.8 })).toBe(false);
});

test("a new commit of the same repository changes only the adapter, its revision and its digest", () => {
  const before = { adapter: adapterOf(), weight: null };
  const source = { revision: "c".repeat(40), sha256: "d".repeat(64) };
  const after = { adapter: adapterOf({ adapterId: "adp_2", displayName: "Moss (2)", source }), weight: null };
  expect(changed(before, after)).toEqual({
    Adapter: ["Moss", "Moss (2)"],
    "Adapter id": ["adp_1", "adp_2"],
    Revision: ["a".repeat(40), "c".repeat(40)],
    "SHA-256": ["b".repeat(64), "d".repeat(64)],
  });
});

test("the base model, the license, and the added and removed trigger words are listed", () => {
  const before = { adapter: adapterOf({ triggerWords: ["mossy", "wet"] }), weight: null };
  const after = {
    adapter: adapterOf({ triggerWords: ["wet", "stone"], baseModelFamily: "sdxl", licenseName: null }),
    weight: null,
  };
  expect(changed(before, after)).toEqual({
    "Base model": ["flux", "sdxl"],
    "Trigger words": ["mossy, wet", "wet, stone"],
    License: ["apache-2.0", null],
  });
  expect(diffOf(before, after).find(({ name }) => name === "Trigger words")).toMatchObject({
    added: ["stone"],
    removed: ["mossy"],
  });
});

test("the order of trigger words does not matter", () => {
  const before = { adapter: adapterOf({ triggerWords: ["a", "b"] }), weight: null };
  expect(changed(before, { adapter: adapterOf({ triggerWords: ["b", "a"] }), weight: null })).toEqual({});
});

test("the strength is the explicit one, else the recommended one, else 1", () => {
  expect(weightWords(0, adapterOf())).toBe("0");
  expect(weightWords(null, adapterOf())).toBe("0.8 (recommended)");
  expect(weightWords(null, adapterOf({ recommendedWeight: null }))).toBe("1 (default)");
  const adapter = adapterOf();
  expect(changed({ adapter, weight: null }, { adapter, weight: 0.5 })).toEqual({
    Strength: ["0.8 (recommended)", "0.5"],
  });
});
