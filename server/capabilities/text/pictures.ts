import { z } from "zod";
import { measurePicture } from "@/server/compute/imaging";
import type { ContentPart, TextMessage } from "@/server/providers/define";
import { InputFault } from "../define";

/* Pictures in conversations are checked before anything is quoted; an invalid one is refused at its field. */

export const MAX_PICTURES = 20;
export const MAX_PICTURE_BYTES = 5 * 1024 * 1024;
export const MOST_PICTURE_PIXELS = 40_000_000;
/** Length in base64, including padding. */
const MAX_DATA = Math.ceil(MAX_PICTURE_BYTES / 3) * 4;

const MEDIA_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;

export const ImagePart = z.strictObject({
  type: z.literal("image"),
  mediaType: z.enum(MEDIA_TYPES),
  data: z.string().min(1).describe("The file's bytes as base64."),
});
type Picture = Omit<z.output<typeof ImagePart>, "mediaType"> & { mediaType: string };
type Part = { type: "text"; text: string } | Picture;
type Message = { role: Exclude<TextMessage["role"], "tool">; content: string | Part[] };

/** The conversation with its pictures decoded. Throws InputFault at the first invalid picture. */
export async function readMessages(messages: Message[]): Promise<TextMessage[]> {
  let pictures = 0;
  const read: TextMessage[] = [];
  for (const [place, { role, content }] of messages.entries()) {
    const at = ["input", "messages", place, "content"];
    if (typeof content === "string") {
      read.push({ role, content });
      continue;
    }
    const parts: ContentPart[] = [];
    for (const [position, part] of content.entries()) {
      if (part.type === "text") {
        parts.push(part);
        continue;
      }
      const field = [...at, position];
      if (role !== "user") throw new InputFault(field, "Only user messages can have pictures.");
      pictures += 1;
      if (pictures > MAX_PICTURES)
        throw new InputFault(field, `A conversation can have at most ${MAX_PICTURES} pictures.`);
      parts.push(await readPicture(part, [...field, "data"]));
    }
    read.push({ role, content: parts });
  }
  return read;
}

async function readPicture({ mediaType, data }: Picture, field: (string | number)[]): Promise<ContentPart> {
  const refuse = (message: string): never => {
    throw new InputFault(field, message);
  };
  if (data.length > MAX_DATA) refuse(`A picture can have at most ${MAX_PICTURE_BYTES} bytes.`);
  const bytes = decodeBase64(data) ?? refuse("This is not valid base64.");
  if (bytes.byteLength > MAX_PICTURE_BYTES) refuse(`A picture can have at most ${MAX_PICTURE_BYTES} bytes.`);
  const found = mediaTypeOf(bytes);
  if (found !== mediaType)
    refuse(found ? `This is ${found}, not ${mediaType}.` : `This is not a valid ${mediaType} file.`);
  const size = (await measurePicture(bytes)) ?? refuse("The picture cannot be read.");
  if (size.width * size.height > MOST_PICTURE_PIXELS)
    refuse(`A picture can have at most ${MOST_PICTURE_PIXELS} pixels.`);
  return { type: "image", mediaType, bytes, ...size };
}

/** Decodes base64 of the standard alphabet; null for any other spelling. */
export function decodeBase64(data: string): Buffer | null {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return null;
  const bytes = Buffer.from(data, "base64");
  return bytes.toString("base64") === data ? bytes : null;
}

/** The media type by the first bytes; null if it is not one of ours. */
function mediaTypeOf(bytes: Buffer): (typeof MEDIA_TYPES)[number] | null {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])))
    return "image/png";
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return "image/jpeg";
  const [riff, webp] = [bytes.toString("latin1", 0, 4), bytes.toString("latin1", 8, 12)];
  return riff === "RIFF" && webp === "WEBP" ? "image/webp" : null;
}
