import type { z } from "zod";
import { ImagesEditFields } from "@/server/contract/openai-media";
import { readPictureHead } from "@/server/contract/pictures";
import { toBodyIssues } from "@/server/domain/envelope";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { readLimited } from "../body";
import type { Incoming } from "../transport";

/* The form of an image edit, as OpenAI's client sends it. */

type Picture = { dataBase64: string; filename: string; mimeType: string };
export type FormFiles = { images: Picture[]; mask: Picture | null };
export type EditForm = { fields: z.output<typeof ImagesEditFields>; files: FormFiles };

export const MOST_FORM_BYTES = 48 * 1024 * 1024;
const MOST_PICTURES = 4;

/** Reads the fields and images. Throws PayloadTooLarge, UnsupportedMediaType, or the validation errors of the fields. */
export async function readEditForm(incoming: Incoming): Promise<EditForm> {
  const type = incoming.header("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type))
    fail("UnsupportedMediaType", "Send the body as multipart/form-data with a boundary.");
  const parts = await parsed(await readLimited(incoming, MOST_FORM_BYTES), type);
  const files: FormFiles = { images: [], mask: null };
  const fields = new Map<string, string>();
  for (const [name, value] of parts) {
    if (`${name}${typeof value === "string" ? value : value.name}`.includes("\u0000"))
      refuse(name, "The character U+0000 is not allowed.");
    if (typeof value === "string") {
      if (fields.has(name)) refuse(name, "This field is sent twice. Send it once.");
      fields.set(name, value);
    } else if (name === "image" || name === "image[]") files.images.push(await toPicture(value));
    else if (name === "mask" && !files.mask) files.mask = await toPicture(value);
    else refuse(name, "This file field is not supported.");
  }
  if (files.images.length === 0) refuse("image", "Field required", "missing");
  if (files.images.length > MOST_PICTURES) refuse("image", `At most ${MOST_PICTURES} images are allowed.`);
  const read = ImagesEditFields.safeParse(Object.fromEntries(fields));
  if (!read.success) throw new ValidationFault(toBodyIssues(read.error, []));
  return { fields: read.data, files };
}

async function parsed(bytes: Uint8Array, type: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
  } catch {
    throw new ValidationFault([
      { loc: ["body"], msg: "The body is not a complete multipart form.", type: "multipart_invalid" },
    ]);
  }
}

/**
 * Reads the media type from the bytes, because clients send none, or application/octet-stream. Bytes of another type
 * are labeled as PNG and refused later.
 */
async function toPicture(file: File): Promise<Picture> {
  const dataBase64 = Buffer.from(await file.arrayBuffer()).toString("base64");
  const mimeType = readPictureHead(dataBase64)?.mediaType ?? "image/png";
  return { dataBase64, filename: file.name || "image", mimeType };
}

function refuse(field: string, msg: string, type = "value_error"): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
}
