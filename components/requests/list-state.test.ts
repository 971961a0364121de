import { expect, test } from "vitest";
import { readListState, requestsHref, toRequestsQuery } from "./list-state";

const CURSOR = `cr_${"0".repeat(26)}`;

test("a state survives the round trip through the URL, and unknown values count as absent", () => {
  const state = { status: "quoted", cursor: CURSOR, trail: "x" } as const;
  const { searchParams } = new URL(requestsHref("cpr_1", state), "http://panel");
  expect(readListState(Object.fromEntries(searchParams))).toEqual(state);
  expect(readListState({ status: "lost", cursor: "cr_1", other: "x" })).toEqual({});
  expect(readListState({ status: ["draft", "paid"] })).toEqual({ status: "draft" });
  expect(requestsHref("cpr_1", {})).toBe("/projects/cpr_1/requests");
  expect(toRequestsQuery("cpr_1", { status: "paid", trail: "x" })).toEqual({
    project_id: "cpr_1",
    status: "paid",
    cursor: undefined,
    limit: 25,
  });
});
