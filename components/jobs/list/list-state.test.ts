import { expect, test } from "vitest";
import { withFilter } from "@/components/blocks/list/list-state";
import { newerPage, olderPage } from "@/components/ui/paging";
import { newId } from "@/server/platform/ids";
import { hasFilter, listHref, readListState, toJobsQuery } from "./list-state";

test("a URL without parameters is the newest page without filters", () => {
  const state = readListState({});
  expect(hasFilter(state)).toBe(false);
  expect(listHref("cpr_1", state)).toBe("/projects/cpr_1/jobs");
});

test("unknown filter values are ignored and do not fail the page", () => {
  const state = readListState({ status: "exploded", outcome: "odd", tag: ["first", "second"], other: "1" });
  expect(state).toEqual({ tag: "first" });
});

test("a cursor that is not a job id starts at the newest page", () => {
  expect(readListState({ cursor: "zz", status: "failed" })).toEqual({ status: "failed" });
  const cursor = newId("job");
  expect(readListState({ cursor })).toEqual({ cursor });
});

test("every filter survives the round trip through the URL", () => {
  const state = readListState({
    status: "failed",
    capability: "image.generate.v1",
    outcome: "failed",
    tag: "a b",
  });
  const address = new URL(listHref("cpr_1", state), "http://panel");
  expect(readListState(Object.fromEntries(address.searchParams))).toEqual(state);
  expect(toJobsQuery("cpr_1", state)).toMatchObject({
    capabilityKey: "image.generate.v1",
    tag: ["a b"],
    limit: 25,
  });
});

test("three pages older and three pages newer leads back to the first page", () => {
  const first = readListState({ status: "succeeded" });
  const second = olderPage(first, "c2");
  const third = olderPage(second, "c3");
  const fourth = olderPage(third, "c4");
  expect(fourth).toMatchObject({ cursor: "c4", trail: "c2.c3" });
  expect(newerPage(fourth)).toEqual(third);
  expect(newerPage(third)).toEqual(second);
  expect(listHref("cpr_1", newerPage(second) ?? {})).toBe(listHref("cpr_1", first));
  expect(newerPage(first)).toBeNull();
});

test("changing a filter starts at the newest page", () => {
  const deep = olderPage(olderPage(readListState({}), "c2"), "c3");
  expect(withFilter(deep, { status: "failed" })).toMatchObject({
    status: "failed",
    cursor: undefined,
    trail: undefined,
  });
});
