import { expect, test } from "vitest";
import {
  adaptersHref,
  aliasHref,
  environmentOf,
  newAdapterHref,
  readListState,
  readPageState,
  toAdaptersQuery,
} from "./list-state";

const CURSOR = `adp_${"0".repeat(26)}`;

test("the state survives the URL, and unknown values are ignored", () => {
  const state = {
    environment: "production",
    q: "ohwx & moss",
    family: "sd1.5",
    health: "missing",
    cursor: CURSOR,
    trail: "x",
  } as const;
  const { searchParams } = new URL(adaptersHref("cpr_1", state), "http://panel");
  expect(readListState(Object.fromEntries(searchParams))).toEqual(state);
  expect(readListState({ health: "well", cursor: "adp_1", environment: "A B", q: "  " })).toEqual({});
  expect(readListState({ q: "x".repeat(300) }).q).toHaveLength(200);
  expect(readPageState({ cursor: CURSOR, q: "moss" })).toEqual({ cursor: CURSOR });
  expect(toAdaptersQuery("cpr_1", state)).toEqual({
    projectId: "cpr_1",
    environment: "production",
    q: "ohwx & moss",
    baseModelFamily: "sd1.5",
    health: "missing",
    cursor: CURSOR,
    limit: 25,
  });
});

test("the default environment is left out, and an alias in any script is one path segment", () => {
  expect(environmentOf({})).toBe("development");
  expect(adaptersHref("cpr_1", { environment: "development" })).toBe("/projects/cpr_1/adapters");
  expect(newAdapterHref("cpr_1", "staging")).toBe("/projects/cpr_1/adapters/new?environment=staging");
  expect(aliasHref("cpr_1", "Ärger v1.0")).toBe("/projects/cpr_1/adapters/aliases/%C3%84rger%20v1.0");
});
