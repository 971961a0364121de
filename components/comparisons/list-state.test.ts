import { expect, test } from "vitest";
import { withFilter } from "@/components/blocks/list/list-state";
import { newId } from "@/server/platform/ids";
import {
  comparisonsHref,
  hasFilter,
  newComparisonHref,
  readListState,
  toComparisonsQuery,
} from "./list-state";

test("every filter and the page survive the URL", () => {
  const state = readListState({
    status: "partial",
    capability: "image.generate.v1",
    judged: "no",
    cursor: newId("comparison"),
  });
  const address = new URL(comparisonsHref("cpr_1", state), "http://panel");
  expect(readListState(Object.fromEntries(address.searchParams))).toEqual(state);
  expect(toComparisonsQuery("cpr_1", state)).toMatchObject({ status: "partial", judged: false, limit: 25 });
  expect(toComparisonsQuery("cpr_1", {})).toMatchObject({ judged: undefined });
});

test("unknown filter values and invalid cursors are ignored", () => {
  expect(readListState({ status: "exploded", judged: "maybe", cursor: newId("job") })).toEqual({});
  expect(comparisonsHref("cpr_1")).toBe("/projects/cpr_1/comparisons");
});

test("changing a filter returns to the newest page", () => {
  const deep = readListState({ status: "failed", cursor: newId("comparison"), trail: "x" });
  const other = withFilter(deep, { judged: "yes" });
  expect(other).toMatchObject({ status: "failed", judged: "yes", cursor: undefined, trail: undefined });
  expect([hasFilter(other), hasFilter({})]).toEqual([true, false]);
});

test("the URL of a new comparison has the capability and whether the input is carried over", () => {
  expect(newComparisonHref("cpr_1")).toBe("/projects/cpr_1/comparisons/new");
  expect(newComparisonHref("cpr_1", "a.b", true)).toBe(
    "/projects/cpr_1/comparisons/new?capability=a.b&from=playground",
  );
});
