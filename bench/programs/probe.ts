import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/*
 * A thread that asks one address again and again, and says on request how long the longest of the answers since the last
 * time was waited for, and how long the asked process's own thread worked on its core in the longest such stretch of work.
 * A thread of its own: who makes and sends bodies of megabytes cannot hold a watch as well.
 */

export type Waits = { waitMs: number; workMs: number };

const { url, pid } = workerData as { url: string; pid: number };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const NEVER = Number.POSITIVE_INFINITY;
let longest: Waits = { waitMs: 0, workMs: 0 };
let asked = now();

/** The clock, and how long the process's main thread has had its core. */
function now(): Waits {
  const worked = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ", 1)[0];
  return { waitMs: performance.now(), workMs: Number(worked) / 1e6 };
}

/** What was waited since it was asked last, or before. */
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
  // Whoever waits right now counts with what was waited so far.
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
