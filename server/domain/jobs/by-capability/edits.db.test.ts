import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { artifactStore } from "@/server/domain/artifacts";
import * as jobs from "@/server/domain/jobs";
import type { Json } from "@/server/platform/durable/step";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";

const EDIT = "image.edit.v1";
const [WIDTH, HEIGHT] = [512, 384];

/** A gradient without two equal rows, so that a moved pixel is noticed. */
async function gradient(): Promise<Buffer> {
  const data = Buffer.alloc(WIDTH * HEIGHT * 3);
  for (let pixel = 0; pixel < WIDTH * HEIGHT; pixel++)
    data.set([pixel % 251, Math.floor(pixel / WIDTH) % 256, (pixel * 7) % 256], pixel * 3);
  return sharp(data, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .png()
    .toBuffer();
}
const HOLE = { x: 100, y: 60, width: 200, height: 150 };
const isInHole = (x: number, y: number) =>
  x >= HOLE.x && x < HOLE.x + HOLE.width && y >= HOLE.y && y < HOLE.y + HOLE.height;

/** A mask that is opaque except for the hole. Alpha 1 does not count as clear. */
async function holed(): Promise<Buffer> {
  const data = Buffer.alloc(WIDTH * HEIGHT * 4, 255);
  for (let pixel = 0; pixel < WIDTH * HEIGHT; pixel++) {
    const [x, y] = [pixel % WIDTH, Math.floor(pixel / WIDTH)];
    data[pixel * 4 + 3] = isInHole(x, y) ? 0 : x === 0 ? 1 : 255;
  }
  return sharp(data, { raw: { width: WIDTH, height: HEIGHT, channels: 4 } })
    .png()
    .toBuffer();
}
const inline = (png: Buffer) => ({
  dataBase64: png.toString("base64"),
  filename: "a.png",
  mimeType: "image/png",
});

async function edit(input: Record<string, Json>, model = "sandbox-1") {
  const project = await makeProject();
  const { ctx, clock } = project;
  const { jobId } = await jobs.submit(ctx, EDIT, { input, preferredModel: model });
  await jobs.run(ctx, jobId, inlineStep(clock));
  const job = await jobs.get(ctx, jobId);
  const pictures = await Promise.all(job.artifacts.map(({ sha256 }) => pixelsOf(sha256)));
  return { project, job, pictures };
}

async function pixelsOf(sha256: string | null) {
  const pieces: Uint8Array[] = [];
  for await (const piece of await artifactStore().open(sha256 ?? "")) pieces.push(piece);
  const { data, info } = await sharp(Buffer.concat(pieces))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}
const source = await gradient();
const before = await sharp(source).ensureAlpha().raw().toBuffer();

test("an edit with a mask redraws only its clear area and keeps every other pixel of the source", {
  tags: "long",
}, async () => {
  const { job, pictures, project } = await edit({
    prompt: "A red balloon",
    sourceImage: inline(source),
    mask: inline(await holed()),
    variantCount: 2,
  });
  expect(job).toMatchObject({
    status: "succeeded",
    typedOutput: { images: [{ width: WIDTH, height: HEIGHT }, { variantIndex: 1 }] },
    variantSet: { requestedCount: 2, completedCount: 2 },
  });
  expect(job.artifacts.map(({ mediaType, kind }) => [mediaType, kind])).toEqual([
    ["image/png", "image"],
    ["image/png", "image"],
  ]);
  for (const { data, width, height } of pictures) {
    expect([width, height]).toEqual([WIDTH, HEIGHT]);
    let [touched, changed] = [0, 0];
    for (let pixel = 0; pixel < width * height; pixel++) {
      const isSame = before
        .subarray(pixel * 4, pixel * 4 + 4)
        .equals(data.subarray(pixel * 4, pixel * 4 + 4));
      if (isInHole(pixel % width, Math.floor(pixel / width))) changed += Number(!isSame);
      else touched += Number(!isSame);
    }
    expect(touched).toBe(0);
    expect(changed).toBeGreaterThan(0.95 * HOLE.width * HOLE.height);
  }
  expect(pictures[0]?.data.equals(pictures[1]?.data ?? Buffer.alloc(0))).toBe(false);
  const { hold, attempts } = await rowsOf(job.jobId);
  expect(attempts).toHaveLength(1);
  expect(hold).toMatchObject({ state: "settled" });
  const receipt = await jobs.receipt(project.ctx, job.jobId);
  expect(receipt.artifacts).toHaveLength(2);
});

test("an edit without a mask resembles the source, is the same for the same prompt and differs for another", {
  tags: "long",
}, async () => {
  const [one, again, other] = await Promise.all([
    edit({ prompt: "At night", sourceImage: inline(source) }),
    edit({ prompt: "At night", sourceImage: inline(source) }),
    edit({ prompt: "In spring", sourceImage: inline(source) }),
  ]);
  const [drawn, second, third] = [one, again, other].map(
    ({ pictures }) => pictures[0]?.data ?? Buffer.alloc(0),
  );
  if (!drawn || !second || !third) throw new Error("no picture");
  expect(drawn.equals(second)).toBe(true);
  expect(drawn.equals(third)).toBe(false);
  // Pearson's correlation between source and result shows that they are the same picture.
  expect(correlation(before, drawn)).toBeGreaterThan(0.5);
});

function correlation(one: Buffer, other: Buffer): number {
  const at = (index: number) => index + Math.floor(index / 3); // skips the alpha channel
  const count = (one.length / 4) * 3;
  const mean = (of: Buffer) => {
    let sum = 0;
    for (let index = 0; index < count; index++) sum += of[at(index)] ?? 0;
    return sum / count;
  };
  const [a, b] = [mean(one), mean(other)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let index = 0; index < count; index++) {
    const [x, y] = [(one[at(index)] ?? 0) - a, (other[at(index)] ?? 0) - b];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

describe("sizes", () => {
  test.each<[object, [number, number]]>([
    [{}, [512, 384]],
    [{ size: "640x512" }, [640, 512]],
    [{ width: 630, height: 500 }, [640, 512]],
  ])("an edit with %j has the size %j", async (asked, size) => {
    const { pictures } = await edit({ prompt: "Snow", sourceImage: inline(source), ...asked });
    expect([pictures[0]?.width, pictures[0]?.height]).toEqual(size);
  });
});

describe("transparent output", () => {
  test.each([
    [undefined, "native"],
    ["native", "native"],
    ["provider", "native"],
    ["matte", "matte-v9"],
    ["matte-v9", "matte-v9"],
    ["chroma", "matte-v9"],
  ])("transparency by %s uses the method %s", async (transparencyMethod, method) => {
    const { job, pictures, project } = await edit({
      prompt: "Cut it out",
      sourceImage: inline(source),
      requestTransparentOutput: true,
      ...(transparencyMethod ? { transparencyMethod } : {}),
    });
    expect(job.typedOutput).toMatchObject({ images: [{ transparency: { method, transparencyOk: true } }] });
    const [picture] = pictures;
    const alphaAt = (x: number, y: number) => picture?.data[(y * WIDTH + x) * 4 + 3];
    expect([alphaAt(0, 0), alphaAt(WIDTH - 1, HEIGHT - 1), alphaAt(256, 192)]).toEqual([0, 0, 255]);
    expect((await jobs.receipt(project.ctx, job.jobId)).media).toMatchObject({ transparency: { method } });
  });
});

test("a picture with a whole header and truncated pixels is refused by the sandbox, and its hold is released", async () => {
  const { job } = await edit({ prompt: "Snow", sourceImage: inline(source.subarray(0, 200)) });
  expect(job).toMatchObject({ status: "failed", error: { code: "ProviderRejected" } });
  expect((await rowsOf(job.jobId)).hold.state).toBe("released");
});

test.each([
  ["sandbox-refuse", "ProviderRejected", "released"],
  ["sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled"],
  ["sandbox-fail", "PROVIDER_ERROR", "released"],
  ["sandbox-lost", "TRANSPORT_AMBIGUOUS", "ambiguous"],
])("an edit on %s ends as %s with its hold %s", async (model, code, hold) => {
  const { job } = await edit({ prompt: "Snow", sourceImage: inline(source) }, model);
  expect(job.error).toMatchObject({ code });
  expect((await rowsOf(job.jobId)).hold.state).toBe(hold);
});

test("a mask without an alpha channel is refused at its field", async () => {
  const { ctx } = await makeProject();
  const submission = jobs.submit(ctx, EDIT, {
    input: { prompt: "Snow", sourceImage: inline(source), mask: inline(source) },
  });
  await expect(submission).rejects.toMatchObject({
    issues: [{ loc: ["body", "input", "mask"], msg: "the mask has no alpha channel" }],
  });
});
