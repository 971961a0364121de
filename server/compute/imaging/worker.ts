import { parentPort, workerData } from "node:worker_threads";
import { type PixelWork, workPixels } from "./pixels";

/** One piece of work, handed over when the thread was started; answers once and ends. */
const result = workPixels(workerData as PixelWork); // by the only one who starts this file
const buffers = [result.raster, ...(result.sheet?.slices ?? []).map(({ content }) => content)].flatMap(
  (raster) => (raster ? [raster.data.buffer as ArrayBuffer] : []), // made by us, never shared
);
parentPort?.postMessage(result, buffers);
