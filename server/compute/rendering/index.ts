import { findProgram, type Program } from "@/server/compute/thread-program";
import { type Answer, Refused, type Rendered, type RenderRequest } from "./request";

export { MAX_FILE_BYTES } from "./limits";
export {
  BACKGROUNDS,
  type Camera,
  FRAMINGS,
  type MeshFacts,
  RENDERER,
  Refused,
  type Rendered,
  type RenderRequest,
  STANDARD_VIEWS,
  STYLES,
  VIEWS,
  type View,
} from "./request";

/** How long one file may take, from its first byte to its last picture; waiting for one's turn is not counted. */
export const RENDER_SECONDS = 30;
/** JavaScript's own memory of one file; the numbers of its mesh are outside of it and have limits of their own. */
const HEAP_MB = 768;

let last: Promise<unknown> = Promise.resolve();

/**
 * Draws a GLB file on a thread of its own, one file at a time. The same file and request give the same bytes on every
 * machine. Rejects with `Refused` where the file cannot be drawn, and with the signal's reason when that ends the wait.
 */
export function renderModel(
  bytes: Uint8Array,
  request: RenderRequest,
  signal: AbortSignal,
  limitMs: number = RENDER_SECONDS * 1000,
): Promise<Rendered> {
  const turn = last.then(() => onThread(bytes, request, signal, limitMs));
  last = turn.catch(() => {}); // told to whoever asked
  return turn;
}

let program: Promise<Program> | undefined;

async function onThread(
  bytes: Uint8Array,
  request: RenderRequest,
  signal: AbortSignal,
  limitMs: number,
): Promise<Rendered> {
  signal.throwIfAborted();
  // Asked of the process, so that bundlers leave the worker's path alone.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  program ??= findProgram("rendering");
  const found = await program.catch((error) => {
    program = undefined; // the next file tries again
    throw error;
  });
  return new Promise((resolve, reject) => {
    const worker = new Worker("file" in found ? found.file : found.code, {
      eval: "code" in found,
      workerData: { bytes, request },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      name: "rendering",
    });
    const stop = (why: unknown) => {
      reject(why);
      void worker.terminate();
    };
    const onAbort = () => stop(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const deadline = setTimeout(
      () =>
        stop(
          new Refused(
            `The file took longer than ${limitMs / 1000} seconds to draw. Reduce its triangles or textures.`,
          ),
        ),
      limitMs,
    );
    worker.once("message", (answer: Answer) => {
      if (answer.state === "rendered") resolve(answer.rendered);
      else reject(new Refused(answer.message));
    });
    worker.once("error", (error: Error & { code?: string }) => {
      const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      reject(
        isFull
          ? new Refused("The file needs more memory to draw than allowed. Reduce its vertices or textures.")
          : error,
      );
    });
    worker.once("exit", () => {
      clearTimeout(deadline);
      signal.removeEventListener("abort", onAbort);
      reject(new Error("The drawing thread ended without an answer."));
    });
  });
}
