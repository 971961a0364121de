import { drawImages } from "../image";
import { ImageRequest } from "../requests";
import { definePort } from "./define";

export const image = definePort("image", ImageRequest, drawImages, () => ({
  images: [],
  usage: { images: 0 },
}));
