import { LIGHT_OF_BYTE, toByte } from "../arithmetic";
import { MAX_TEXTURE_PIXELS } from "../limits";
import { Refused } from "../request";

/** A picture in memory with its mipmap levels, from the largest to one pixel; RGBA, one byte each. */
export type Texture = { levels: Level[] };
export type Level = { width: number; height: number; data: Uint8Array };

const CODEC_SECONDS = 20;

/** Loaded with the first texture, because many meshes have none. */
async function codec() {
  const { default: sharp } = await import("sharp");
  sharp.concurrency(1);
  return sharp;
}

/** Versions of the library that reads textures, for the manifest. */
export async function codecVersions(): Promise<Record<string, string>> {
  const { versions } = await codec();
  return { sharp: versions.sharp ?? "unknown", libvips: versions.vips };
}

/**
 * Reads a PNG, JPEG or WebP picture and computes its mipmap levels. A picture with a side above `most` pixels is halved until it
 * fits. Values are sRGB colors or, for roughness and the like, plain numbers. Throws `Refused`.
 */
export async function readTexture(
  bytes: Uint8Array,
  name: string,
  { most, isColor }: { most: number; isColor: boolean },
): Promise<Texture> {
  const sharp = await codec();
  try {
    // glTF requires that color profiles in its pictures are ignored.
    const picture = sharp(bytes, { limitInputPixels: false, failOn: "error", ignoreIcc: true, pages: 1 });
    const { width = 0, height = 0, format } = await picture.metadata();
    if (!["png", "jpeg", "webp"].includes(format ?? ""))
      throw new Refused(`The texture ${name} is ${format}. Use PNG, JPEG or WebP.`);
    if (width * height > MAX_TEXTURE_PIXELS)
      throw new Refused(
        `The texture ${name} has ${width} x ${height} pixels, and at most ${MAX_TEXTURE_PIXELS} are allowed.`,
      );
    const { data, info } = await picture
      .timeout({ seconds: CODEC_SECONDS })
      .toColourspace("srgb")
      .ensureAlpha()
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    return toTexture({ width: info.width, height: info.height, data }, most, isColor);
  } catch (cause) {
    if (cause instanceof Refused) throw cause;
    throw new Refused(`The texture ${name} cannot be read.`);
  }
}

/** Computes the mipmap levels of a picture, starting at the first one with no side above `most` pixels. */
export function toTexture(first: Level, most: number, isColor: boolean): Texture {
  let level = first;
  while (Math.max(level.width, level.height) > most) level = halved(level, isColor);
  const levels = [level];
  while (level.width > 1 || level.height > 1) {
    level = halved(level, isColor);
    levels.push(level);
  }
  return { levels };
}

/** Halves a picture. Each pixel is the mean of those below it; colors are averaged as light and weighted by opacity. */
function halved({ width, height, data }: Level, isColor: boolean): Level {
  const [w, h] = [Math.max(1, width >> 1), Math.max(1, height >> 1)];
  const half = new Uint8Array(w * h * 4);
  for (let y = 0; y < h; y++) {
    const [top, bottom] = [Math.floor((y * height) / h), Math.max(1, Math.floor(((y + 1) * height) / h))];
    for (let x = 0; x < w; x++) {
      const [left, right] = [Math.floor((x * width) / w), Math.max(1, Math.floor(((x + 1) * width) / w))];
      let [red, green, blue, alpha, weights, count] = [0, 0, 0, 0, 0, 0];
      for (let row = top; row < bottom; row++)
        for (let column = left; column < right; column++) {
          const at = (row * width + column) * 4;
          const opacity = data[at + 3]!;
          const weight = isColor ? opacity + 1 / 256 : 1;
          red += weight * light(data[at]!, isColor);
          green += weight * light(data[at + 1]!, isColor);
          blue += weight * light(data[at + 2]!, isColor);
          alpha += opacity;
          weights += weight;
          count++;
        }
      const at = (y * w + x) * 4;
      half[at] = unlight(red / weights, isColor);
      half[at + 1] = unlight(green / weights, isColor);
      half[at + 2] = unlight(blue / weights, isColor);
      half[at + 3] = Math.floor(alpha / count + 0.5);
    }
  }
  return { width: w, height: h, data: half };
}

const light = (byte: number, isColor: boolean) => (isColor ? LIGHT_OF_BYTE[byte]! : byte / 255);
const unlight = (value: number, isColor: boolean) =>
  isColor ? toByte(value) : Math.floor(value * 255 + 0.5);
