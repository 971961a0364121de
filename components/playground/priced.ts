import { isJsonObject, textIn } from "@/components/blocks/data/unknown";
import { readPictureHead } from "@/server/contract/pictures";

/** Image types that a conversation accepts. WebP is excluded, because its size needs the whole file. */
const CUT_TYPES = ["image/png", "image/jpeg"];

/** Images up to this many base64 characters are sent unchanged. */
const SHORT = 4_096;

/**
 * The input for a price request: images are cut to the start of their files where that has the format and the size. The
 * price depends on nothing else, so the pixels are not sent again with each change of the prompt.
 */
export function toPriced(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(toPriced);
  if (!isJsonObject(input)) return input;
  const picture = textIn(input, "dataBase64");
  if (picture !== undefined && textIn(input, "mimeType") !== undefined)
    return { ...input, dataBase64: headOf(picture) };
  const part = textIn(input, "data");
  if (part !== undefined && input.type === "image" && CUT_TYPES.includes(textIn(input, "mediaType") ?? ""))
    return { ...input, data: headOf(part) };
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, toPriced(value)]));
}

/** A short prefix of an image that parses like the whole file; the whole file if it, or every tried prefix, does not. */
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
