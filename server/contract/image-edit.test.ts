import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { ImageEditInput } from "./image-edit";
import { readPictureHead } from "./pictures";

type Format = "png" | "jpeg" | "webp";
const canvas = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 40, b: 90, alpha: 0.5 } } });
const picture = async (format: Format, width = 300, height = 260, channels: 3 | 4 = 3) => ({
  dataBase64: (await canvas(width, height, channels).toFormat(format).toBuffer()).toString("base64"),
  filename: `a.${format}`,
  mimeType: `image/${format}`,
});

describe("picture heads", () => {
  test.each<[Format, 3 | 4, boolean]>([
    ["png", 3, false],
    ["png", 4, true],
    ["jpeg", 3, false],
    ["webp", 3, false],
    ["webp", 4, true],
  ])("a %s with %i channels is read", async (format, channels, hasAlpha) => {
    const { dataBase64, mimeType } = await picture(format, 301, 257, channels);
    expect(readPictureHead(dataBase64)).toEqual({ mediaType: mimeType, width: 301, height: 257, hasAlpha });
  });

  test("lossless WebP is read, and so is a JPEG whose size follows a long profile", async () => {
    const webp = await canvas(33, 700, 4).webp({ lossless: true }).toBuffer();
    expect(readPictureHead(webp.toString("base64"))).toMatchObject({
      width: 33,
      height: 700,
      hasAlpha: true,
    });
    const jpeg = await canvas(640, 480).withMetadata({ icc: "p3" }).jpeg({ progressive: true }).toBuffer();
    expect(readPictureHead(jpeg.toString("base64"))).toMatchObject({ width: 640, height: 480 });
  });

  test("a PNG with a transparent palette color has alpha", async () => {
    const palette = await sharp({ create: { width: 8, height: 8, channels: 4, background: "#0000" } })
      .png({ palette: true })
      .toBuffer();
    expect(readPictureHead(palette.toString("base64"))?.hasAlpha).toBe(true);
  });

  test.each(["", "AAAA", "iVBORw0K", "%%%%", "/9j/4AAQSkZJRg==", "UklGRgAAAABXRUJQ"])(
    "the head of %j is null",
    (base64) => expect(readPictureHead(base64)).toBeNull(),
  );
});

const source = await picture("png");
const mask = await picture("png", 300, 260, 4);
const turned = await picture("png", 260, 300, 4);
const [jpeg, webp] = await Promise.all([picture("jpeg"), picture("webp")]);
const huge = Buffer.from(source.dataBase64, "base64");
huge.writeUInt32BE(20_000, 16);
huge.writeUInt32BE(20_000, 20);

describe("image edit input", () => {
  test.each<[string, object, string[]]>([
    ["no source", { sourceImage: undefined }, ["sourceImage"]],
    ["no base64", { sourceImage: { ...source, dataBase64: "§§§§" } }, ["sourceImage.dataBase64"]],
    ["no picture", { sourceImage: { ...source, dataBase64: "aGVsbG8h" } }, ["sourceImage.dataBase64"]],
    ["another type", { sourceImage: { ...source, mimeType: "image/webp" } }, ["sourceImage.mimeType"]],
    [
      "a type we do not take",
      { sourceImage: { ...source, mimeType: "image/gif" } },
      ["sourceImage.mimeType"],
    ],
    [
      "too many pixels",
      { sourceImage: { ...source, dataBase64: huge.toString("base64") } },
      ["sourceImage.dataBase64"],
    ],
    ["a mask without alpha", { mask: source }, ["mask"]],
    ["a mask of another size", { mask: turned }, ["mask"]],
    [
      "a reference of another type",
      { referenceImages: [{ ...source, mimeType: "image/jpeg" }] },
      ["referenceImages.0.mimeType"],
    ],
    ["four references", { referenceImages: [source, source, source, source] }, ["referenceImages"]],
    ["one edge", { width: 512 }, ["height"]],
    ["a small edge", { width: 255, height: 512 }, ["width"]],
    ["a large edge", { width: 2049, height: 1024 }, ["width"]],
    ["a size in words", { size: "large" }, ["size"]],
    ["a size out of bounds", { size: "4096x1024" }, ["size"]],
    ["both, and different", { size: "512x512", width: 512, height: 640 }, ["size"]],
    ["too long a shape", { size: "2048x256" }, ["size"]],
    ["a method without transparency", { transparencyMethod: "chroma" }, ["transparencyMethod"]],
  ])("input with %s is refused at the field to change", (_case, input, fields) => {
    const { error } = ImageEditInput.safeParse({ prompt: "x", sourceImage: source, ...input });
    expect([...new Set(error?.issues.map(({ path }) => path.join(".")))]).toEqual(fields);
  });

  test.each<[string, object]>([
    ["a mask", { mask }],
    ["both, and the same", { size: "512x640", width: 512, height: 640 }],
    ["every way to transparency", { requestTransparentOutput: true, transparencyMethod: "provider" }],
    ["three references", { referenceImages: [source, jpeg, webp] }],
  ])("input with %s is accepted", (_case, input) => {
    expect(ImageEditInput.safeParse({ prompt: "x", sourceImage: source, ...input }).error).toBeUndefined();
  });
});
