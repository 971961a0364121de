import { measureMp4 } from "@/server/compute/media/mp4";
import { RESOLUTIONS, VIDEO_SECONDS, VideoInput, VideoOutput } from "@/server/contract/videos";
import type { ModelFacts } from "@/server/providers/define";
import { BY_MODEL, CapabilityFault, defineCapability, durable, inCharacters } from "./define";
import { toImageFile } from "./image/drawing";

const PROMPT_CHARACTERS = 4_000;

/** Can this model make a video of that length and resolution from these reference pictures? */
function accepts(input: VideoInput, model: ModelFacts): boolean {
  const { duration, video, supports } = model;
  const milliseconds = input.durationSeconds * 1_000;
  if (input.referenceImages?.length && !supports.referenceImages) return false;
  if (input.referenceImages && input.referenceImages.length > (video?.maxReferenceImages ?? 4)) return false;
  if (duration && (milliseconds < duration.minMs || milliseconds > duration.maxMs)) return false;
  if (video?.seconds && !video.seconds.includes(input.durationSeconds)) return false;
  const { resolution } = input.features ?? {};
  return resolution === undefined || (video?.resolutions ?? []).includes(resolution);
}

export default defineCapability({
  key: "video.generate.v1",
  title: "Video generation",
  description: "Makes a video from a prompt: one silent MP4 of one to eight seconds, portrait or landscape.",
  modality: "video",
  family: "video",
  category: "generation",
  modes: ["job_async"],
  input: VideoInput,
  output: VideoOutput,
  inputConstraints: {
    prompt: inCharacters(PROMPT_CHARACTERS),
  },
  features: {
    syncInvoke: { supported: false },
    maxDurationSeconds: VIDEO_SECONDS.max,
    resolutions: [...RESOLUTIONS],
    nativeAudio: false,
    startEndFrames: false,
    referenceImages: { max: 4 },
    ...BY_MODEL,
  },
  inputMediaTypes: ["text/plain", "image/png", "image/jpeg", "image/webp"],
  outputKind: "artifact",
  outputMediaType: "video/mp4",
  intentExamples: [
    "Make a short video of waves at sunset",
    "Animate this picture into a clip",
    "Film a drone shot over a forest, upright for a phone",
    "Generate an eight second teaser clip",
  ],
  synonyms: ["movie", "clip", "film", "animation", "footage", "mp4", "text to video", "animate"],
  taskTags: ["video", "generation", "clip"],
  trialEligible: false,
  readySummary: "One MP4 from a prompt, as a durable job.",
  // Vendors take minutes for a clip, and longer when they are busy.
  durable: durable(900, 3600),
  examples: [
    { title: "Eight seconds, landscape", input: { prompt: "A lighthouse above a calm sea at dawn" } },
    {
      title: "Four seconds, portrait",
      input: { prompt: "Rain on a window in the city", aspectRatio: "9:16", durationSeconds: 4 },
    },
  ],
  execute: {
    port: "video",
    accepts,
    call: (input) => ({
      prompt: input.prompt,
      aspectRatio: input.aspectRatio,
      durationSeconds: input.durationSeconds,
      ...(input.features?.resolution ? { resolution: input.features.resolution } : {}),
      referenceImages: (input.referenceImages ?? []).map(toImageFile),
    }),
    result({ videos }, input) {
      const [video] = videos.filter(({ bytes }) => bytes.byteLength > 0);
      if (!video)
        throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider's answer contains no video.");
      const { bytes, mediaType } = video;
      const measured = measureMp4(bytes);
      return {
        typedOutput: { aspectRatio: input.aspectRatio, ...measured },
        files: [
          {
            bytes,
            mediaType,
            kind: "video",
            filename: `video.${mediaType.split("/")[1] ?? "bin"}`,
            ...(measured.durationMs === null ? {} : { facts: { durationMs: measured.durationMs } }),
          },
        ],
      };
    },
    bounds: (input) => ({ durationMs: input.durationSeconds * 1_000 }),
  },
});
