import { z } from "zod";
import { CheckedImage } from "./image-edit";

export const VIDEO_SECONDS = { min: 1, max: 8 } as const;
export const RESOLUTIONS = ["720p", "1080p"] as const;

export const VideoInput = z.strictObject({
  // The limit is only published here: a longer prompt fails with PromptTooLong, by the capability's input constraints.
  prompt: z.string().min(1).meta({ description: "What the video shows and what happens.", maxLength: 4_000 }),
  aspectRatio: z.enum(["16:9", "9:16"]).default("16:9"),
  durationSeconds: z.int().min(VIDEO_SECONDS.min).max(VIDEO_SECONDS.max).default(VIDEO_SECONDS.max),
  referenceImages: z.array(CheckedImage).max(4).optional(),
  features: z
    .strictObject({
      resolution: z.enum(RESOLUTIONS).optional().describe("Defaults to the model's own."),
      nativeAudio: z.literal(false).optional().describe("Audio is not supported."),
      startEndFrames: z.literal(false).optional().describe("First and last frames are not supported."),
    })
    .optional(),
});
export type VideoInput = z.output<typeof VideoInput>;

export const VideoOutput = z.object({
  aspectRatio: z.enum(["16:9", "9:16"]),
  /** Measured in the file; null if the file does not state it. */
  durationMs: z.int().nullable(),
  width: z.int().nullable(),
  height: z.int().nullable(),
});
export type VideoOutput = z.output<typeof VideoOutput>;
