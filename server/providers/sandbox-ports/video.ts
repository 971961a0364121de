import { z } from "zod";
import { Count, CountsOf, figures } from "../counts";
import type { ModelFacts, PortAdapter } from "../define";
import { SANDBOX_MODELS } from "./common";
import { pollWork, submitWork } from "./work";

const VideoReply = z.object({
  videos: z.array(z.object({ mediaType: z.string(), base64: z.string() })),
  usage: CountsOf({ durationMs: Count }),
});

export const videoModels = SANDBOX_MODELS.map(
  (model): ModelFacts => ({
    ...model,
    port: "video",
    price: { per: "second", micros: model.id === "sandbox-2" ? 50_000 : 100_000 },
    supports: { referenceImages: true },
    duration: { minMs: 1_000, maxMs: 8_000 },
    video: { resolutions: ["720p"] },
  }),
);

export const sandboxVideo: PortAdapter<"video"> = {
  api: "videos",
  submit({ referenceImages, ...call }, io) {
    const sent = referenceImages.map(({ bytes, mediaType }) => ({
      mediaType,
      base64: Buffer.from(bytes).toString("base64"),
    }));
    return submitWork("/v1/video", { ...call, referenceImages: sent }, io);
  },
  poll: (handle, io) =>
    pollWork(handle, io, VideoReply, ({ videos, usage }) => ({
      result: {
        videos: videos.map(({ mediaType, base64 }) => ({ mediaType, bytes: Buffer.from(base64, "base64") })),
      },
      usage: usage ? figures(usage) : null,
    })),
};
