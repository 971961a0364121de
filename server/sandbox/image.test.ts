import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "@/server/platform/text/canonical";
import { campaign } from "@/testing/campaign";
import { drawImages } from "./image";
import type { ImageRequest } from "./requests";

const request: ImageRequest = {
  model: "sandbox-1",
  prompt: "A lighthouse above a calm sea at dawn",
  width: 816,
  height: 816,
  quality: "medium",
  count: 1,
  transparent: false,
  referenceImages: [],
};
const draw = async (more: Partial<ImageRequest> = {}) => {
  const { images } = await drawImages({ ...request, ...more });
  return images.map(({ base64 }) => Buffer.from(base64, "base64"));
};

/** Mean difference of two pictures of one size, 0 to 255 per channel. */
async function difference(a: Buffer | undefined, b: Buffer | undefined): Promise<number> {
  const [left, right] = await Promise.all([a, b].map((png) => sharp(png).removeAlpha().raw().toBuffer()));
  if (!left || !right || left.byteLength !== right.byteLength) throw new Error("not of one size");
  return left.reduce((sum, value, index) => sum + Math.abs(value - (right[index] ?? 0)), 0) / left.byteLength;
}

describe("drawImages", () => {
  test.each<[width: number, height: number]>([
    [816, 816],
    [1200, 640],
    [256, 3840],
    ...campaign.size<[number, number][]>({ small: [], full: [[3840, 2160]] }),
  ])("a picture is a PNG of exactly %i x %i", async (width, height) => {
    const [png] = await draw({ width, height });
    const facts = await sharp(png).metadata();
    expect([facts.format, facts.width, facts.height]).toEqual(["png", width, height]);
  });

  test("the same request gives the same bytes", async () => {
    const [one, again] = [await draw({ count: 2 }), await draw({ count: 2 })];
    expect(one.map(sha256Hex)).toEqual(again.map(sha256Hex));
  });

  test.each<[string, Partial<ImageRequest>]>([
    ["prompt", { prompt: "A robot florist" }],
    ["model", { model: "sandbox-2" }],
    ["reference image", { referenceImages: [{ mediaType: "image/png", base64: "iVBORw0K" }] }],
  ])("a different %s gives a different picture", async (_what, more) => {
    const [[first], [second]] = await Promise.all([draw(), draw(more)]);
    expect(await difference(first, second)).toBeGreaterThan(4);
  });

  test("a request gets as many different variants as it asks for", { tags: "long" }, async () => {
    const variants = await draw({ count: 4 });
    expect(variants).toHaveLength(4);
    for (const [index, variant] of variants.entries()) {
      for (const other of variants.slice(index + 1))
        expect(await difference(variant, other)).toBeGreaterThan(4);
    }
  });

  test("a picture with transparency shows an opaque figure on a transparent background", async () => {
    const [png] = await draw({ transparent: true });
    const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(4);
    const alphaAt = (x: number, y: number) => data[(y * info.width + x) * 4 + 3];
    const [right, bottom] = [info.width - 1, info.height - 1];
    expect([alphaAt(0, 0), alphaAt(right, 0), alphaAt(0, bottom), alphaAt(right, bottom)]).toEqual([
      0, 0, 0, 0,
    ]);
    expect(alphaAt(info.width / 2, info.height / 2)).toBe(255);
    const clear = Array.from({ length: info.width * info.height }, (_, pixel) => data[pixel * 4 + 3]);
    expect(clear.filter((alpha) => alpha === 0).length / clear.length).toBeGreaterThan(0.2);
  });

  test("a picture without requested transparency has none", async () => {
    const [png] = await draw();
    expect((await sharp(png).stats()).isOpaque).toBe(true);
  });

  test.each(["", " ", "夜の港", "🦊🦊", "x".repeat(32_000), "word ".repeat(4_000)])(
    "a prompt of any text is drawn",
    async (tail) => {
      const [png] = await draw({ prompt: `a${tail}` });
      expect((await sharp(png).metadata()).width).toBe(816);
    },
  );
});
