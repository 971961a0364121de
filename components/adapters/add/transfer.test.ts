import { expect, test } from "vitest";
import { progressOf, type TransferSample, withTransferSample } from "./transfer";

const sampled = (...samples: [number, number][]) =>
  samples.reduce<TransferSample[]>((known, [atMs, sent]) => withTransferSample(known, { atMs, sent }), []);

test("rate and time left are unknown before anything is measured", () => {
  expect(progressOf([], 100)).toEqual({ sent: 0, percent: 0, bytesPerSecond: null, secondsLeft: null });
  expect(progressOf(sampled([0, 0], [100, 50]), 100)).toMatchObject({ percent: 50, bytesPerSecond: null });
});

test("rate and time left follow the last seconds", () => {
  const steady = sampled([0, 0], [1_000, 1_000_000], [2_000, 2_000_000]);
  expect(progressOf(steady, 10_000_000)).toEqual({
    sent: 2_000_000,
    percent: 20,
    bytesPerSecond: 1_000_000,
    secondsLeft: 8,
  });
  const slower = sampled([0, 0], [1_000, 8_000_000], [6_000, 8_500_000], [11_000, 9_000_000]);
  expect(progressOf(slower, 10_000_000)).toMatchObject({ bytesPerSecond: 100_000, secondsLeft: 10 });
});

test("a stalled transfer has an unknown time left, and only a complete one is at 100%", () => {
  expect(progressOf(sampled([0, 500], [5_000, 500], [10_000, 500]), 1_000)).toMatchObject({
    bytesPerSecond: 0,
    secondsLeft: null,
  });
  // A browser counts the frame around the file as well.
  expect(progressOf(sampled([0, 0], [1_000, 1_200]), 1_000)).toMatchObject({
    sent: 1_000,
    percent: 100,
    secondsLeft: 0,
  });
  expect(progressOf(sampled([0, 0], [1_000, 999]), 1_000).percent).toBe(99);
});

test("samples outside the window are dropped", () => {
  const many = Array.from({ length: 1_000 }, (_, n): [number, number] => [n * 100, n]);
  expect(sampled(...many).length).toBeLessThan(60);
});
