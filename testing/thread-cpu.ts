import { existsSync, openSync, readSync } from "node:fs";

const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`;

/** Only Linux reports the CPU time of one thread, in all Node versions that the product runs on. */
export const isThreadCpuKnown = existsSync(SCHEDSTAT);

const text = Buffer.alloc(128);
let file: number | undefined;

function threadCpuMs(): number {
  file ??= openSync(SCHEDSTAT, "r");
  const length = readSync(file, text, 0, text.length, 0);
  return Number(text.toString("latin1", 0, length).split(" ", 1)[0]) / 1e6;
}

/**
 * The longest CPU time for which the main thread ran without yielding during `work`. Other programs on the machine do not
 * count, as they would with a clock. Garbage collection counts, so the smallest of several tries is returned, and a try below
 * `enough` is the last.
 */
export async function longestSliceMs(
  work: () => Promise<unknown>,
  { tries = 1, enough = 0 }: { tries?: number; enough?: number } = {},
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let number = 0; number < tries && least >= enough; number++) least = Math.min(least, await once(work));
  return least;
}

async function once(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = threadCpuMs();
  let isOver = false;
  const look = () => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  try {
    await work();
  } finally {
    isOver = true;
    look();
  }
  return longest;
}
