import { readFileSync, readlinkSync } from "node:fs";

/** The system's id of the calling thread, on Linux; null if the system does not report it. */
export function systemThreadId(): number | null {
  try {
    return Number(/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? Number.NaN) || null;
  } catch {
    return null;
  }
}

/** Processor time that a thread of this process has used, in milliseconds; null if the system does not report it. */
export function threadCpuMs(threadId: number | null): number | null {
  if (threadId === null) return null;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${threadId}/schedstat`, "latin1").split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return null;
  }
}
