import type { Planes } from "./h264";

/** Converts an RGBA picture with even edges to YCbCr by BT.709. */
export function planesOf(rgba: Uint8Array | Uint8ClampedArray, width: number, height: number): Planes {
  const luma = new Uint8Array(width * height);
  const cb = new Uint8Array((width * height) / 4);
  const cr = new Uint8Array((width * height) / 4);
  for (let y = 0; y < height; y += 2)
    for (let x = 0; x < width; x += 2) {
      let [red, green, blue] = [0, 0, 0];
      for (const [across, down] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        const at = ((y + down) * width + x + across) * 4;
        const [r, g, b] = [rgba[at]!, rgba[at + 1]!, rgba[at + 2]!];
        luma[(y + down) * width + x + across] = Math.round(16 + 0.182586 * r + 0.614231 * g + 0.062007 * b);
        red += r;
        green += g;
        blue += b;
      }
      const at = (y / 2) * (width / 2) + x / 2;
      cb[at] = Math.round(128 + (-0.100644 * red - 0.338572 * green + 0.439216 * blue) / 4);
      cr[at] = Math.round(128 + (0.439216 * red - 0.398942 * green - 0.040274 * blue) / 4);
    }
  return { width, height, luma, cb, cr };
}
