import { z } from "zod";
import { readPictureHead } from "@/server/contract/pictures";

const Picture = z.looseObject({ dataBase64: z.string(), mimeType: z.string() });
/** A picture in a conversation. Of WebP nothing can be told there but of the whole file. */
const PicturePart = z.looseObject({
  type: z.literal("image"),
  mediaType: z.enum(["image/png", "image/jpeg"]),
  data: z.string(),
});

/** Pictures up to so many characters of base64 are no matter. */
const SHORT = 4_096;

/**
 * An input as it is priced: every picture is cut to the beginning of its file, which says its format and its size. A price
 * depends on nothing else of a picture, so its pixels need not be sent again with each change of the prompt.
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

/** The shortest beginning of a picture that reads as the whole does; the whole where it does not read. */
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
