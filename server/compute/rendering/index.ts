import { OutOfTime, threadsOf } from "@/server/platform/threads/threads";
import { Refused, type Rendered, type RenderingAnswer, type RenderRequest, type RenderTask } from "./request";

export { MAX_FILE_BYTES } from "./limits";
export {
  type CameraView,
  RENDERER,
  Refused,
  type Rendered,
  type RenderRequest,
  STANDARD_VIEWS,
} from "./request";

/** CPU limit of one file, from its first byte to its last picture; a backstop behind the counted limits. */
export const RENDER_SECONDS = 30;

const threads = threadsOf<RenderTask, RenderingAnswer>({
  name: "rendering",
  size: 1,
  deadlineMs: RENDER_SECONDS * 1000,
  memoryMb: 768, // a mesh's buffers lie outside the heap and have limits of their own
  isForOneTask: true,
});

/**
 * Draws a GLB file on a worker thread, one file at a time. The same file and request give the same bytes on every machine.
 * Rejects with `Refused` if the file cannot be drawn, with `OutOfTime` if only the clock ended the drawing, and with the signal's
 * reason if the signal ends the wait.
 */
export async function renderModel(
  bytes: Uint8Array,
  request: RenderRequest,
  signal: AbortSignal,
  deadlineMs: number = RENDER_SECONDS * 1000,
): Promise<Rendered> {
  const answer = await threads.run({ bytes, request }, { signal, deadlineMs });
  if (answer.state === "rendered") return answer.rendered;
  if (answer.state === "refused") throw new Refused(answer.message);
  switch (answer.by) {
    case "deadline":
      throw new OutOfTime("The drawing was stopped because it took too long here.");
    case "memory":
      throw new Refused("The file needs more memory to draw than allowed. Reduce its vertices or textures.");
    default:
      throw new Error("The drawing thread ended without an answer.", { cause: answer.cause });
  }
}
