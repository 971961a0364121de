import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { deadline } from "./deadline";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

afterEach(() => void vi.useRealTimers());

test("a deadline aborts when its time is up, whatever was garbage-collected, and earlier with the other signal", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reader = new AbortController();
  const [late, left] = [deadline(1_000, reader.signal), deadline(5_000, reader.signal)];
  await new Promise(setImmediate);
  collectGarbage();
  vi.advanceTimersByTime(999);
  expect(late.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(late.reason).toMatchObject({ name: "TimeoutError" });
  expect(left.aborted).toBe(false);
  reader.abort("left");
  expect(left.reason).toBe("left");
  expect(vi.getTimerCount()).toBe(0);
  expect(deadline(1_000, reader.signal).reason).toBe("left");
});
