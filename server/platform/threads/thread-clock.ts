import { readFileSync, readlinkSync } from "node:fs";

/** The caller's own thread as Linux names it, from within that thread; null where the system does not say. */
export function systemThreadId(): number | null {
  try {
    return Number(/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? Number.NaN) || null;
  } catch {
    return null;
  }
}

/** The processor time that a thread of this process has used, in milliseconds; null where the system does not say. */
export function threadCpuMs(threadId: number | null): number | null {
  if (threadId === null) return null;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${threadId}/schedstat`, "latin1").split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return null;
  }
}
