import type { ImageCall, TextCall, VideoCall } from "../define";

/* Calls that provider tests share. */

export const hello: TextCall = {
  messages: [{ role: "user", content: "Hello" }],
  responseFormat: { type: "text" },
};
export const cube: ImageCall = {
  prompt: "A red cube",
  width: 1024,
  height: 1024,
  quality: "auto",
  count: 1,
  transparent: false,
  referenceImages: [],
};
export const sea: VideoCall = {
  prompt: "The sea",
  aspectRatio: "16:9",
  durationSeconds: 8,
  referenceImages: [],
};
export const picture = {
  bytes: Buffer.from("iVBORw0K", "base64"),
  mediaType: "image/png",
  filename: "a.png",
};
