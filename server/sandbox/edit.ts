import sharp from "sharp";
import { RequestRefused } from "./ports/define";
import type { File, ImageRequest } from "./requests";

/* Edits pictures so that the edited place is plain to see and nothing else changes. */

/** Opacity of the new drawing over the source. */
const STRENGTH = 0.55;

/** Pixels in rows of RGBA. */
type Pixels = Uint8Array;

/**
 * Lays the picture drawn from the prompt over the source: in the mask's transparent area, or everywhere without a mask. If
 * transparency or a background is requested, the mask's area, or all outside an ellipse, becomes that background instead. Throws
 * RequestRefused for an unreadable picture.
 */
export async function editPicture(request: ImageRequest, source: File, drawn: Uint8Array): Promise<Buffer> {
  const { width, height } = request;
  const [before, after, mask] = await Promise.all([
    read(Buffer.from(source.base64, "base64"), width, height),
    read(drawn, width, height),
    request.mask ? read(Buffer.from(request.mask.base64, "base64"), width, height, "nearest") : null,
  ]);
  const isCutOut = request.transparent || request.background !== undefined;
  const result = Buffer.from(before);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const at = pixel * 4;
    if (mask ? mask[at + 3] !== 0 : isCutOut && isInside(pixel % width, Math.floor(pixel / width), request))
      continue;
    if (isCutOut) setBackground(result, at, request.background);
    else if (mask) result.set(after.subarray(at, at + 4), at);
    else blend(result, after, at);
  }
  return sharp(result, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

async function read(
  bytes: Uint8Array,
  width: number,
  height: number,
  kernel: "nearest" | "lanczos3" = "lanczos3",
): Promise<Pixels> {
  try {
    const picture = sharp(bytes, { limitInputPixels: 40_000_000 }).toColourspace("srgb").ensureAlpha();
    const { width: from, height: to } = await sharp(bytes).metadata();
    const sized =
      from === width && to === height ? picture : picture.resize(width, height, { fit: "fill", kernel });
    return await sized.raw({ depth: "uchar" }).toBuffer();
  } catch {
    throw new RequestRefused("unreadable_picture", "A picture cannot be read.");
  }
}

/** True inside the ellipse that spans nine tenths of the width and height. */
function isInside(x: number, y: number, { width, height }: { width: number; height: number }): boolean {
  const [across, down] = [(x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5];
  return across ** 2 + down ** 2 <= 0.45 ** 2;
}

function setBackground(pixels: Pixels, at: number, color: string | undefined): void {
  const value = color ? Number.parseInt(color.slice(1), 16) : 0;
  pixels.set([value >> 16, (value >> 8) & 255, value & 255, color ? 255 : 0], at);
}

function blend(pixels: Pixels, over: Pixels, at: number): void {
  for (let channel = at; channel < at + 3; channel += 1)
    pixels[channel] = Math.round(pixels[channel]! * (1 - STRENGTH) + over[channel]! * STRENGTH);
}
