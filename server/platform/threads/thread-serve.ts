import { type MessagePort, workerData } from "node:worker_threads";
import { systemThreadId } from "./thread-clock";
import type { Ready } from "./threads";

/** The worker's side of a pool: answers each input. A throw ends the thread, and the pool reports a `failure`. */
export function serveThread<I, A>(answer: (input: I) => A | Promise<A>): void {
  const port = workerData.port as MessagePort; // handed over by the pool, which alone starts these programs
  port.on("message", async (input: I) => port.postMessage(await answer(input)));
  port.postMessage({ state: "ready", threadId: systemThreadId() } satisfies Ready);
}
