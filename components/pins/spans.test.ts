import { expect, test } from "vitest";
import { spanPosition } from "@/components/blocks/chart/waterfall";
import { pinSpans } from "./spans";

const at = (ms: number) => new Date(Date.UTC(2026, 10, 22) + ms).toISOString();
const attempt = (number: number, from: number, to: number | null) => ({
  number,
  startedAt: at(from),
  endedAt: to === null ? null : at(to),
  submission: "attempted" as const,
  httpStatus: 200 as number | null,
  errorCode: null as string | null,
});
const record = {
  createdAt: at(0),
  startedAt: at(1000),
  completedAt: at(9000),
  schedulerWaitMs: 1000,
  providerExecutionMs: 5000,
  attempts: [
    { ...attempt(1, 1000, 1200), submission: "not_attempted" as const, httpStatus: null, errorCode: "ECONN" },
    { ...attempt(2, 2200, 2500), httpStatus: 429, errorCode: "ProviderUnavailable" },
    attempt(3, 4000, 9000),
  ],
};

test("the timing lists the queue wait, each submission with the wait before it, the provider and the total, in order", () => {
  const spans = pinSpans(record);
  expect(spans.map(({ name, fromMs, toMs }) => [name, fromMs, toMs])).toEqual([
    ["Queue wait", 0, 1000],
    ["Submission 1", 1000, 1200],
    ["Wait before submission 2", 1200, 2200],
    ["Submission 2", 2200, 2500],
    ["Wait before submission 3", 2500, 4000],
    ["Submission 3", 4000, 9000],
    ["Provider processing", 4000, 9000],
    ["Total", 0, 9000],
  ]);
  expect(spans.flatMap(({ outcome }) => outcome ?? [])).toEqual([
    "not sent, ECONN",
    "answered, HTTP 429, ProviderUnavailable",
    "answered, HTTP 200",
  ]);
});

test("a single request that never reached the provider has no queue wait and no provider processing", () => {
  const lost = { ...record, schedulerWaitMs: null, providerExecutionMs: null };
  const spans = pinSpans({ ...lost, attempts: record.attempts.slice(0, 1) });
  expect(spans.map(({ key }) => key)).toEqual(["submission-1", "total"]);
});

test("a submission without a recorded end lasts until the record's end", () => {
  const cut = { ...attempt(1, 1000, null), submission: "ambiguous" as const, httpStatus: null };
  const [, submission] = pinSpans({ ...record, attempts: [cut] });
  expect(submission).toMatchObject({ toMs: 9000, outcome: "sent, no complete response", wentWell: false });
});

test("every span lies within the chart, even when everything took no time", () => {
  for (const each of [record, { ...record, completedAt: at(0), attempts: [] }]) {
    const spans = pinSpans({ ...each, schedulerWaitMs: null });
    const wholeMs = Math.max(1, ...spans.map(({ toMs }) => toMs));
    for (const span of spans) {
      const { left, width } = spanPosition(span, wholeMs);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(width).toBeGreaterThanOrEqual(0);
      expect(left + width).toBeLessThanOrEqual(100.001);
    }
  }
});
