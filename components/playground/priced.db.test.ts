import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { expect, test } from "vitest";
import { readPictureHead } from "@/server/contract/pictures";
import * as quotes from "@/server/domain/quotes";
import { makeProject } from "@/testing/world";
import { toPriced } from "./priced";

const noise = sharp(randomBytes(900 * 600 * 3), { raw: { width: 900, height: 600, channels: 3 } });
const pictures = await Promise.all(
  (["png", "jpeg", "webp"] as const).map(async (format) => ({
    dataBase64: (await noise.clone().toFormat(format).toBuffer()).toString("base64"),
    filename: `a.${format}`,
    mimeType: `image/${format}`,
  })),
);
const [source, ...references] = pictures;

test("the price request contains each image's header, not the whole image", () => {
  const input = { prompt: "A storm", sourceImage: source, referenceImages: references };
  expect(JSON.stringify(input).length).toBeGreaterThan(2_000_000);
  expect(JSON.stringify(toPriced(input)).length).toBeLessThan(20_000);
  const priced = toPriced(source) as NonNullable<typeof source>;
  expect(readPictureHead(priced.dataBase64)).toEqual(readPictureHead(source?.dataBase64 ?? ""));
});

test("a conversation has the same price if only the header of each image is sent", async () => {
  const { ctx } = await makeProject();
  const content = pictures.slice(0, 2).map(({ dataBase64: data, mimeType: mediaType }) => ({
    type: "image" as const,
    mediaType,
    data,
  }));
  const input = {
    messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, ...content] }],
  };
  const priced = toPriced(input) as typeof input;
  expect(JSON.stringify(priced).length).toBeLessThan(30_000);
  const [whole, head] = [
    await quotes.quote(ctx, "text.vision.structured.v1", { input }),
    await quotes.quote(ctx, "text.vision.structured.v1", { input: priced }),
  ];
  expect(whole.status).toBe("ok");
  for (const field of ["expectedCharge", "maximumAuthorizedCharge", "resolved", "basis"] as const)
    expect(head[field]).toEqual(whole[field]);
});

test("an input without images is priced unchanged", () => {
  const input = { messages: [{ role: "user", content: "How deep?" }], a: [1, null, { b: "c" }] };
  expect(toPriced(input)).toEqual(input);
  const broken = { dataBase64: "x".repeat(10_000), mimeType: "image/png" };
  expect(toPriced(broken)).toEqual(broken);
});

test("an image's header gives the same price as the whole image", async () => {
  const { ctx } = await makeProject();
  const input = { prompt: "A storm", sourceImage: source!, referenceImages: references };
  const whole = await quotes.quote(ctx, "image.edit.v1", { input });
  const head = await quotes.quote(ctx, "image.edit.v1", { input: toPriced(input) as typeof input });
  expect(whole.status).toBe("ok");
  for (const field of [
    "expectedCharge",
    "maximumAuthorizedCharge",
    "resolved",
    "basis",
    "routingAlternatives",
  ] as const)
    expect(head[field]).toEqual(whole[field]);
});
