import { threadsOf } from "@/server/platform/threads/threads";
import type { PictureProcessing, Processed } from "./process";
import type { ImagingAnswer, PictureTask } from "./worker";

export type { AlphaFigures } from "./pixels";
export type { PictureProcessing, ProcessedCell } from "./process";

const DEADLINE_MS = 120_000;
const MOST_THUMBNAIL_PIXELS = 32 * 1024 * 1024;
const THUMBNAIL_SECONDS = 10;

const threads = threadsOf<PictureTask, ImagingAnswer>({
  name: "imaging",
  size: 1,
  deadlineMs: DEADLINE_MS,
  memoryMb: 512, // pixels lie outside the heap, bounded by the picture's size
  isForOneTask: true,
});

/**
 * Reads a picture, removes its key color and cuts it into cells as far as `wanted` asks for it, and writes the results as PNG.
 * The same input gives the same bytes. Rejects if the picture cannot be read or takes too long. Pictures are processed one at a
 * time, on a worker thread.
 */
export async function processImage(bytes: Uint8Array, wanted: PictureProcessing): Promise<Processed> {
  const answer = await threads.run({ bytes, wanted });
  if (answer.state === "done") return answer.processed;
  if (answer.by === "deadline") throw new Error(`A picture took longer than ${DEADLINE_MS} ms to process.`);
  throw new Error("The picture could not be processed.", { cause: answer.cause });
}

/** Size of a picture in pixels from its header, without decoding; null if it cannot be read. */
export async function measurePicture(bytes: Uint8Array): Promise<{ width: number; height: number } | null> {
  // Loaded with the first picture, because most processes never see one.
  const { default: sharp } = await import("sharp");
  try {
    const { width, height } = await sharp(bytes, { limitInputPixels: false }).metadata();
    return width > 0 && height > 0 ? { width, height } : null;
  } catch {
    return null;
  }
}

/**
 * The middle of a picture as a square WebP of `side` pixels; null if the picture cannot be read, is too large or takes too long.
 */
export async function thumbnailOf(bytes: Uint8Array, side: number): Promise<Uint8Array | null> {
  const { default: sharp } = await import("sharp");
  try {
    return await sharp(bytes, { limitInputPixels: MOST_THUMBNAIL_PIXELS })
      .timeout({ seconds: THUMBNAIL_SECONDS })
      .resize(side, side, { fit: "cover" })
      .webp()
      .toBuffer();
  } catch {
    return null;
  }
}
