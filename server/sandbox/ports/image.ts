import { drawImages } from "../image";
import { ImageRequest } from "../requests";
import { definePort } from "./define";

export const imagePort = definePort("image", ImageRequest, {
  answer: drawImages,
  empty: () => ({
    images: [],
    usage: { images: 0 },
  }),
});
