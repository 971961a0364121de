import Replicate from "replicate";
import type { ImageCall, VideoCall } from "./define";
import replicate from "./replicate";
import { picture } from "./testing/calls";
import { ioFor } from "./testing/vendor";
import { sendsWhatItsClientSends } from "./testing/wire";

const SECRET = "r8_wire1";
const ID = "gm3qorzdhgbfurvjtvhg6dckhu";
const clientAt = (baseUrl: string) => new Replicate({ auth: SECRET, baseUrl });
const io = (baseUrl: string, model: string, port: "image" | "video") =>
  ioFor(replicate, model, port, { baseUrl, credentials: { apiKey: SECRET } });
const made = { status: 201, json: { id: ID, status: "starting" } };
const drawn: ImageCall = {
  prompt: "A red cube",
  width: 768,
  height: 1344,
  quality: "low",
  count: 3,
  transparent: false,
  referenceImages: [],
  adapters: [{ url: "https://example.com/a.safetensors", weight: 0.8 }],
};
const filmed: VideoCall = {
  prompt: "The sea",
  aspectRatio: "16:9",
  durationSeconds: 4,
  referenceImages: [picture],
};

sendsWhatItsClientSends("replicate", [
  {
    title: "pictures with LoRA weights",
    answer: made,
    theirs: (url) =>
      clientAt(url).predictions.create({
        model: "black-forest-labs/flux-dev-lora",
        input: {
          prompt: "A red cube",
          aspect_ratio: "9:16",
          megapixels: "1",
          num_outputs: 3,
          num_inference_steps: 16,
          lora_weights: "https://example.com/a.safetensors",
          lora_scale: 0.8,
          output_format: "png",
          disable_safety_checker: false,
        },
      }),
    ours: async (url) => replicate.image?.submit(drawn, io(url, "black-forest-labs/flux-dev-lora", "image")),
  },
  {
    title: "a video that looks at a picture",
    answer: made,
    theirs: (url) =>
      clientAt(url).predictions.create({
        model: "bytedance/seedance-1-lite",
        input: {
          prompt: "The sea",
          aspect_ratio: "16:9",
          duration: 4,
          resolution: "720p",
          reference_images: ["data:image/png;base64,iVBORw0K"],
        },
      }),
    ours: async (url) => replicate.video?.submit(filmed, io(url, "bytedance/seedance-1-lite", "video")),
  },
]);

sendsWhatItsClientSends(
  "replicate, asked for work,",
  [
    {
      title: "the status of a prediction",
      answer: { json: { id: ID, status: "processing" } },
      theirs: (url) => clientAt(url).predictions.get(ID),
      ours: async (url) =>
        replicate.image?.poll?.({ id: ID }, io(url, "black-forest-labs/flux-dev", "image")),
    },
  ],
  { "content-type": "the client names one though it sends no body" },
);
