import { OutOfTime, threadsOf } from "@/server/platform/threads/threads";
import { type Answer, Refused, type Rendered, type RenderRequest, type RenderTask } from "./request";

export { MAX_FILE_BYTES } from "./limits";
export {
  RENDERER,
  Refused,
  type Rendered,
  type RenderRequest,
  STANDARD_VIEWS,
  type View,
} from "./request";

/** Processor time of one file, from its first byte to its last picture. The counted limits end it long before. */
export const RENDER_SECONDS = 30;

const threads = threadsOf<RenderTask, Answer>({
  name: "rendering",
  size: 1,
  deadlineMs: RENDER_SECONDS * 1000,
  memoryMb: 768, // the numbers of a mesh are outside and have limits of their own
  isForOneTask: true,
});

/**
 * Draws a GLB file on a thread of its own, one file at a time. The same file and request give the same bytes on every
 * machine. Rejects with `Refused` where the file cannot be drawn, with `OutOfTime` where only the clock ended it, and
 * with the signal's reason when that ends the wait.
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
