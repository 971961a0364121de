import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/*
 * Asks one address again and again in a thread, and tells on request the longest wait for an answer since the last request, and
 * how long the asked process's main thread worked on its core in the longest such stretch. It has a thread of its own, because
 * one that makes and sends bodies of megabytes cannot keep watch as well.
 */

export type Waits = { waitMs: number; workMs: number };

const { url, pid } = workerData as { url: string; pid: number };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const NEVER = Number.POSITIVE_INFINITY;
let longest: Waits = { waitMs: 0, workMs: 0 };
let asked = now();

/** Reads the clock, and how long the process's main thread has had its core, both in milliseconds. */
function now(): Waits {
  const worked = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ", 1)[0];
  return { waitMs: performance.now(), workMs: Number(worked) / 1e6 };
}

/** Longest wait and work since the last message; an answer that is still awaited counts with its wait so far. */
function longestNow(): Waits {
  const { waitMs, workMs } = now();
  return {
    waitMs: Math.max(longest.waitMs, waitMs - asked.waitMs),
    workMs: Math.max(longest.workMs, workMs - asked.workMs),
  };
}

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (answer) => answer.resume().on("end", resolve).on("error", reject))
      .on("error", reject)
      .end();
  });
}

parentPort?.on("message", (message: "begin" | "end") => {
  // A request that waits right now counts with its wait so far.
  if (message === "end") parentPort?.postMessage(longestNow());
  longest = { waitMs: 0, workMs: 0 };
});

for (;;) {
  asked = now();
  await ask();
  longest = longestNow();
  asked = { waitMs: NEVER, workMs: NEVER };
  await sleep(1);
}
