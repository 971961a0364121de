import { expect, test } from "vitest";
import type { UsageDays } from "@/server/contract/usage";
import { addFigures, exportHref, groupUsage, readUsageState, usageHref } from "./usage-state";

const PROJECT = "cpr_1";
const figures = (executions: number, chargedMicros: number) => ({
  ...addFigures([]),
  executions,
  chargedMicros,
});
const usage: UsageDays = {
  from: "2026-11-20",
  to: "2026-11-21",
  days: ["2026-11-20", "2026-11-21"],
  rows: [
    {
      day: "2026-11-20",
      test: false,
      capabilityKey: "a",
      provider: "openai",
      principalId: "key_1",
      ...figures(1, 5),
    },
    {
      day: "2026-11-21",
      test: false,
      capabilityKey: "a",
      provider: "openai",
      principalId: "key_2",
      ...figures(2, 7),
    },
    {
      day: "2026-11-21",
      test: false,
      capabilityKey: "b",
      provider: null,
      principalId: "key_1",
      ...figures(9, 0),
    },
    {
      day: "2026-11-21",
      test: true,
      capabilityKey: "b",
      provider: "sandbox",
      principalId: "key_1",
      ...figures(4, 99),
    },
  ],
  principals: [{ principalId: "key_1", kind: "key", name: "Mine" }],
};

test("a URL without parameters, or with unknown ones, shows thirty days by capability", () => {
  const usual = { days: "30", by: "capability", show: "charged" };
  expect(readUsageState({})).toEqual(usual);
  expect(readUsageState({ days: "31", by: "moon", show: ["x", "y"] })).toEqual(usual);
});

test("a URL has only non-default values, and parses back to the same state", () => {
  expect(usageHref(PROJECT, readUsageState({}))).toBe("/projects/cpr_1/usage");
  const state = readUsageState({ days: "90", by: "key", show: "tokens" });
  const href = usageHref(PROJECT, state);
  expect(readUsageState(Object.fromEntries(new URL(href, "http://x").searchParams))).toEqual(state);
});

test("live and test money are never added up, the largest group is first, and days add up to their group", () => {
  const live = groupUsage(usage, { by: "capability", show: "charged" }, false);
  expect(live.map(({ name, figures }) => [name, figures.chargedMicros])).toEqual([
    ["a", 12],
    ["b", 0],
  ]);
  expect(groupUsage(usage, { by: "capability", show: "executions" }, false).map(({ name }) => name)).toEqual([
    "b",
    "a",
  ]);
  for (const { byDay, figures } of live) expect(addFigures(byDay.values())).toEqual(figures);
  expect(groupUsage(usage, { by: "provider", show: "charged" }, true).map(({ name }) => name)).toEqual([
    "sandbox",
  ]);
  expect(groupUsage(usage, { by: "provider", show: "charged" }, false).map(({ name }) => name)).toEqual([
    "openai",
    "Local",
  ]);
  expect(groupUsage(usage, { by: "key", show: "charged" }, false).map(({ name }) => name)).toEqual([
    "API key key_2",
    "Mine (API key)",
  ]);
});

test("the export covers the days shown, including the whole last day", () => {
  expect(exportHref(PROJECT, usage)).toBe(
    "/v1/billing/usage-export?from=2026-11-20&to=2026-11-22&projectId=cpr_1",
  );
});

test("executions whose provider is hidden until judged are not counted as local", () => {
  const nameOf = (more: Partial<ReturnType<typeof figures>>) =>
    groupUsage(
      { ...usage, rows: [{ ...usage.rows[2]!, ...figures(3, 0), ...more }] },
      { by: "provider", show: "executions" },
      false,
    ).map(({ name }) => name);
  expect(nameOf({ succeeded: 3 })).toEqual(["Local"]);
  expect(nameOf({ unjudged: 3 })).toEqual(["Hidden until judged"]);
  expect(nameOf({ unfinished: 1, unjudged: 1, succeeded: 1 })).toEqual(["Local or hidden until judged"]);
});
