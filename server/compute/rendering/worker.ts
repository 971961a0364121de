import { parentPort, workerData } from "node:worker_threads";
import { render } from "./render";
import { type Answer, Refused, type RenderRequest } from "./request";

/** One file, handed over when the thread was started; answers once and ends. */
const { bytes, request } = workerData as { bytes: Uint8Array; request: RenderRequest }; // by the only one who starts this

render(bytes, request).then(
  (rendered) => parentPort?.postMessage({ state: "rendered", rendered } satisfies Answer),
  (cause: unknown) => {
    if (!(cause instanceof Refused)) throw cause;
    parentPort?.postMessage({ state: "refused", message: cause.message } satisfies Answer);
  },
);
