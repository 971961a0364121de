import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HOUR_MS } from "@/server/platform/time/units";
import { bodyDeadlines } from "./deadlines";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const open = (): IncomingMessage => ({ complete: false, destroyed: false }) as IncomingMessage; // the only fields that are read

test("a body has five minutes, and longer if its endpoint allows it", () => {
  const late: IncomingMessage[] = [];
  const deadlines = bodyDeadlines((request) => late.push(request));
  const [usual, patient, answered] = [open(), open(), open()];
  deadlines.watch(usual);
  deadlines.watch(patient).allow(7_200_000);
  const ended = deadlines.watch(answered);
  vi.advanceTimersByTime(295_000);
  ended.end();
  expect(late).toEqual([]);
  vi.advanceTimersByTime(10_000);
  expect(late).toEqual([usual]);
  vi.advanceTimersByTime(6_000_000);
  expect(late).toEqual([usual]);
  vi.advanceTimersByTime(1_200_000);
  expect(late).toEqual([usual, patient]);
  deadlines.stop();
});

test("a body that has arrived is not late, however long its answer takes", () => {
  const late: IncomingMessage[] = [];
  const deadlines = bodyDeadlines((request) => late.push(request));
  const request = open();
  deadlines.watch(request);
  request.complete = true;
  vi.advanceTimersByTime(HOUR_MS);
  expect(late).toEqual([]);
  deadlines.stop();
});
