import { createHash } from "node:crypto";
import { createCanvas, loadImage } from "@napi-rs/canvas";
import { drawView } from "../image";
import type { VideoRequest } from "../requests";
import { codeMoved, codeWhole, MACROBLOCK, parameterSets } from "./h264";
import { muxMp4 } from "./mp4";
import { planesOf } from "./planes";

export type VideoAnswer = {
  videos: { mediaType: "video/mp4"; base64: string }[];
  usage: { durationMs: number };
};

const FRAMES_PER_SECOND = 24;
/** Pixels by which the view moves each frame. Even, so that the color planes, at half resolution, move by whole samples too. */
const STEP = 4;
const SIZES = { "16:9": { width: 1280, height: 720 }, "9:16": { width: 720, height: 1280 } } as const;

/** Films a slow pan across a wide picture drawn from the prompt. The same request always gives the same bytes. */
export async function film(request: VideoRequest): Promise<VideoAnswer> {
  const { width, height } = SIZES[request.aspectRatio];
  const frames = request.durationSeconds * FRAMES_PER_SECOND;
  const whole = width + STEP * (frames - 1);
  const references = request.referenceImages.map(({ base64 }) =>
    createHash("sha256").update(base64).digest("hex"),
  );
  const view = drawView(
    request.prompt,
    [request.model, request.prompt, ...references].join("\n"),
    whole,
    height,
  );
  const canvas = createCanvas(whole, height);
  const context = canvas.getContext("2d");
  context.drawImage(view, 0, 0);
  // Reference pictures hang in the view as small pictures, one beside the other.
  for (const [index, { base64 }] of request.referenceImages.entries()) {
    const picture = await loadImage(Buffer.from(base64, "base64")).catch(() => null);
    const edge = Math.round(height / 4);
    if (picture) context.drawImage(picture, 40 + index * (edge + 40), 40, edge, edge);
  }
  const { data } = context.getImageData(0, 0, whole, height);
  const of = planesOf(data, whole, height);
  const columns = width / MACROBLOCK;
  const samples = Array.from({ length: frames }, (_, frame) => {
    const view = { of, left: frame * STEP, columns };
    return frame === 0
      ? { unit: codeWhole(view), isWhole: true }
      : { unit: codeMoved(view, frame, [STEP, 0], (column) => column === columns - 1), isWhole: false };
  });
  const sets = parameterSets(width, height, FRAMES_PER_SECOND);
  const file = muxMp4({ width, height, framesPerSecond: FRAMES_PER_SECOND, ...sets, samples });
  return {
    videos: [{ mediaType: "video/mp4", base64: file.toString("base64") }],
    usage: { durationMs: request.durationSeconds * 1_000 },
  };
}
