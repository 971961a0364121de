import { createFalClient } from "@fal-ai/client";
import type { ImageCall, VideoCall } from "./define";
import fal from "./fal";
import { ioFor } from "./testing/vendor";
import { sendsWhatItsClientSends } from "./testing/wire";

const SECRET = "fal-wire-1";
const ID = "764cabcf-b745-4b3e-ae38-1200304cf45b";

/** The client has a fixed URL, so its requests are redirected to the test's vendor, otherwise unchanged. */
const clientAt = (baseUrl: string) =>
  createFalClient({
    credentials: SECRET,
    fetch: (input, init) => fetch(String(input).replace("https://queue.fal.run", baseUrl), init),
  });
const io = (baseUrl: string, model: string, port: "image" | "video") =>
  ioFor(fal, model, port, { baseUrl, credentials: { apiKey: SECRET } });
const headers = { "X-Fal-No-Retry": "1", "x-app-fal-disable-fallback": "true" };
const taken = { json: { status: "IN_QUEUE", request_id: ID, queue_position: 0 } };
const drawn: ImageCall = {
  prompt: "A red cube",
  width: 1024,
  height: 768,
  quality: "high",
  count: 2,
  transparent: false,
  referenceImages: [],
  adapters: [{ url: "https://example.com/a.safetensors", weight: 0.8 }],
};
const filmed: VideoCall = { prompt: "The sea", aspectRatio: "9:16", durationSeconds: 6, referenceImages: [] };

sendsWhatItsClientSends(
  "fal",
  [
    {
      title: "a picture with LoRA weights",
      answer: taken,
      theirs: (url) =>
        clientAt(url).queue.submit("fal-ai/flux-lora", {
          input: {
            prompt: "A red cube",
            image_size: { width: 1024, height: 768 },
            num_images: 2,
            num_inference_steps: 44,
            loras: [{ path: "https://example.com/a.safetensors", scale: 0.8 }],
            output_format: "png",
            enable_safety_checker: true,
          },
          headers,
        }),
      ours: async (url) => fal.image?.submit(drawn, io(url, "fal-ai/flux-lora", "image")),
    },
    {
      title: "a video",
      answer: taken,
      theirs: (url) =>
        clientAt(url).queue.submit("fal-ai/veo3/fast", {
          input: {
            prompt: "The sea",
            aspect_ratio: "9:16",
            duration: "6s",
            generate_audio: false,
            auto_fix: false,
          },
          headers,
        }),
      ours: async (url) => fal.video?.submit(filmed, io(url, "fal-ai/veo3/fast", "video")),
    },
  ],
  {
    "x-fal-queue-priority": "the client says normal, which is what saying nothing means",
  },
);

sendsWhatItsClientSends(
  "fal, asked for work,",
  [
    {
      title: "the status of work",
      answer: { status: 202, json: { status: "IN_QUEUE", queue_position: 2 } },
      theirs: (url) => clientAt(url).queue.status("fal-ai/veo3/fast", { requestId: ID }),
      ours: async (url) =>
        fal.video?.poll?.({ id: ID, path: "fal-ai/veo3/fast" }, io(url, "fal-ai/veo3/fast", "video")),
    },
  ],
  { "content-type": "the client names one though it sends no body" },
);
