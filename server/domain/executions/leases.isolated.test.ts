import { expect, test, vi } from "vitest";
import { leaseKeeper, releaseAllLeases } from "./leases";

const renewing = async () => new Map<string, "held">();

test("a shutdown waits for, and finally stops, the work of every copy of this module in the process", async () => {
  vi.resetModules();
  const copy = await import("./leases");
  expect(copy.releaseAllLeases).not.toBe(releaseAllLeases);
  const leases = [leaseKeeper(renewing).hold("one", 1), copy.leaseKeeper(renewing).hold("two", 1)];
  const stops = leases.map(({ signal, release }) => {
    const stopped = new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));
    return stopped.finally(release);
  });
  const released = releaseAllLeases(0);
  expect(await Promise.all(stops)).toEqual(["shutdown", "shutdown"]);
  await released;
});

test("work whose time limit has passed before it begins is stopped at once, because a quick request outruns a timer", () => {
  const keeper = leaseKeeper(renewing);
  const leases = [-1, 0, 60_000].map((leftMs) => keeper.hold("one", 1, { deadlineMs: leftMs }));
  expect(leases.map(({ signal }) => signal.reason)).toEqual(["deadline", "deadline", undefined]);
  for (const lease of leases) lease.release();
});

test("a lost lease stops the work but not the wait for an answer, which the time limit still ends", async () => {
  vi.useFakeTimers();
  const keeper = leaseKeeper(async () => new Map());
  const { signal, answerSignal, release } = keeper.hold("one", 1, { deadlineMs: 60_000 });
  await keeper.renew();
  expect([signal.reason, answerSignal.aborted]).toEqual(["lease_lost", false]);
  vi.advanceTimersByTime(60_000);
  expect(answerSignal.reason).toBe("deadline");
  release();
  vi.useRealTimers();
});
