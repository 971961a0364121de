import { VideoRequest } from "../requests";
import { film } from "../video/film";
import { definePort } from "./define";

export const videoPort = definePort("video", VideoRequest, {
  answer: film,
  empty: () => ({ videos: [], usage: { durationMs: 0 } }),
  answersLater: true,
});
