import { z } from "zod";
import { readPictureHead } from "@/server/contract/pictures";

const Picture = z.looseObject({ dataBase64: z.string(), mimeType: z.string() });
/** An image in a conversation. WebP is excluded, because its size needs the whole file. */
const PicturePart = z.looseObject({
  type: z.literal("image"),
  mediaType: z.enum(["image/png", "image/jpeg"]),
  data: z.string(),
});

/** Images up to this many base64 characters are sent unchanged. */
const SHORT = 4_096;

/**
 * The input for a price request: every image is cut to the start of its file, which has its format and size. The price
 * depends on nothing else, so the pixels are not sent again with each change of the prompt.
 */
export function toPriced(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(toPriced);
  if (typeof input !== "object" || input === null) return input;
  const picture = Picture.safeParse(input).data;
  if (picture) return { ...picture, dataBase64: headOf(picture.dataBase64) };
  const part = PicturePart.safeParse(input).data;
  if (part) return { ...part, data: headOf(part.data) };
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, toPriced(value)]));
}

/** The shortest prefix of an image that parses like the whole file; the whole file if it does not parse. */
function headOf(base64: string): string {
  const head = readPictureHead(base64);
  if (!head) return base64;
  for (let length = SHORT; length < base64.length; length *= 4) {
    const cut = base64.slice(0, length);
    const read = readPictureHead(cut);
    if (read?.width === head.width && read.height === head.height && read.hasAlpha === head.hasAlpha)
      return cut;
  }
  return base64;
}
