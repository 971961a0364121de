import { toByte, toLight } from "./arithmetic";
import type { LinearPicture } from "./draw";
import type { Bitmap } from "./png";
import type { Background } from "./request";

const gray = (red: number, green: number, blue: number) =>
  [toLight(red / 255), toLight(green / 255), toLight(blue / 255)] as const;

/** Background colors as linear light; a transparent picture has none. */
export const GROUNDS = { light: gray(242, 243, 245), dark: gray(30, 32, 36) } as const;

/** Converts light to sRGB bytes over a background; a transparent one keeps the opacity in an alpha channel. */
export function develop({ width, height, data }: LinearPicture, background: Background): Bitmap {
  const pixels = width * height;
  if (background === "transparent") {
    const bytes = new Uint8Array(pixels * 4);
    for (let at = 0; at < bytes.length; at += 4) {
      const alpha = data[at + 3]!;
      if (!(alpha > 0)) continue;
      for (let part = 0; part < 3; part++) bytes[at + part] = toByte(data[at + part]! / alpha);
      bytes[at + 3] = Math.min(255, Math.floor(alpha * 255 + 0.5));
    }
    return { width, height, channels: 4, data: bytes };
  }
  const ground = GROUNDS[background];
  const bytes = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const through = 1 - data[pixel * 4 + 3]!;
    for (let part = 0; part < 3; part++)
      bytes[pixel * 3 + part] = toByte(data[pixel * 4 + part]! + ground[part]! * through);
  }
  return { width, height, channels: 3, data: bytes };
}

/** Share of the picture that the model covers, from 0 to 1. */
export function coverageOf({ data }: LinearPicture): number {
  let sum = 0;
  for (let at = 3; at < data.length; at += 4) sum += data[at]!;
  return Math.round((sum / (data.length / 4)) * 1e6) / 1e6;
}
