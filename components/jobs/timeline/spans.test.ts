import { expect, test } from "vitest";
import { jobSpans } from "./spans";

const at = (ms: number) => new Date(Date.UTC(2026, 10, 22) + ms).toISOString();
const event = (type: string, ms: number, payload = {}) => ({
  type: `job.${type}`,
  createdAt: at(ms),
  payload,
});
const shown = (events: ReturnType<typeof event>[], nowMs = 0) =>
  jobSpans(events, Date.parse(at(nowMs))).map(({ name, fromMs, toMs }) => [name, fromMs, toMs]);

test("a job's timing has its phases in order, without the events within a phase or after the end", () => {
  const events = [
    event("awaiting_approval", 0),
    event("approved", 9_000),
    event("queued", 9_000),
    event("started", 9_500),
    event("provider_submitted", 9_600),
    event("progress", 11_000),
    event("artifact_stored", 12_000),
    event("succeeded", 12_100),
    event("receipt_sealed", 12_100),
    event("variant_selected", 90_000),
  ];
  expect(shown(events)).toEqual([
    ["Approval wait", 0, 9_000],
    ["Queue wait", 9_000, 9_500],
    ["Preparation", 9_500, 9_600],
    ["Provider", 9_600, 12_100],
    ["Total", 0, 12_100],
  ]);
});

test("the phase of a running job, and its total, last until now", () => {
  const events = [event("queued", 0), event("started", 100)];
  expect(shown(events, 4_000)).toEqual([
    ["Queue wait", 0, 100],
    ["Run", 100, 4_000],
    ["Total", 0, 4_000],
  ]);
  expect(shown(events, 50).at(1)).toEqual(["Run", 100, 100]); // a reader's clock may be slow
});

test("the phase in which a job failed names the code; a job without events has no timing", () => {
  const failed = [
    event("queued", 0),
    event("started", 10),
    event("failed", 40, { code: "ProviderRejected" }),
  ];
  expect(jobSpans(failed, 0).at(1)).toMatchObject({ outcome: "ProviderRejected", wentWell: false, toMs: 40 });
  expect(jobSpans([], 0)).toEqual([]);
});
