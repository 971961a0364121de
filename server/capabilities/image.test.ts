import { describe, expect, test } from "vitest";
import type { ModelFacts } from "@/server/providers/define";
import openai from "@/server/providers/openai";
import sandbox from "@/server/providers/sandbox";
import { whiteSquare } from "@/testing/forms";
import { type CapabilityDefinition, CapabilityFault } from "./define";
import image from "./image.generate.v1";

// The registry erases input types; these tests know them.
const capability = image as unknown as CapabilityDefinition<unknown, unknown>;
const { execute } = capability;
if ("local" in execute || execute.port !== "image") throw new Error("not an image capability");
const execution = execute;

/** The capability has no material. */
const NOTHING = undefined as never;
const parse = (input: object) => capability.input.safeParse({ prompt: "sea", ...input });
const parsed = (input: object) => capability.input.parse({ prompt: "sea", ...input });
const issues = (input: object) =>
  parse(input).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
const model = (id: string): ModelFacts => {
  const facts = [...openai.models, ...sandbox.models].find(
    (candidate) => candidate.id === id && candidate.port === "image",
  );
  if (!facts) throw new Error(id);
  return facts;
};
const call = (input: object) => execution.call(parsed(input), {}, model("sandbox-1"), NOTHING);
const accepts = (input: object, id: string) => execution.accepts?.(parsed(input), model(id));

describe("image input", () => {
  test("every example is valid, and defaults are as published", () => {
    for (const { input } of capability.examples) expect(capability.input.safeParse(input).success).toBe(true);
    expect(parsed({})).toEqual({
      prompt: "sea",
      quality: "medium",
      variantCount: 1,
      requestTransparentOutput: false,
    });
    expect(call({})).toMatchObject({ width: 1024, height: 1024, transparent: false });
  });

  test.each([
    { prompt: "" },
    { width: 255 },
    { width: 3841 },
    { width: 1024.5 },
    { width: 800, height: 800 },
    { width: 3840, height: 2176 },
    { width: 3840, height: 1264 },
    { quality: "ultra" },
    { variantCount: 0 },
    { variantCount: 5 },
    { transparencyMethod: "native" },
    { keyColor: "#ff0000", requestTransparentOutput: true },
    { transparentRegions: "everywhere", requestTransparentOutput: true },
    { referenceImages: [{ dataBase64: "not base64!", filename: "a.png", mimeType: "image/png" }] },
    { referenceImages: [{ dataBase64: "aaaa", filename: "a.gif", mimeType: "image/gif" }] },
    {
      referenceImages: Array.from({ length: 5 }, () => ({
        dataBase64: "aaaa",
        filename: "a.png",
        mimeType: "image/png",
      })),
    },
    { seed: 1 },
  ])("%j is refused", (input) => expect(parse(input).success).toBe(false));

  test.each([
    { width: 816, height: 816 },
    { width: 3840, height: 2160 },
    { width: 3840, height: 1280 },
    { width: 810, height: 810 },
  ])("%j is accepted", (input) => expect(parse(input).success).toBe(true));

  test("an input has at most four adapters, each by alias or by id", () => {
    const four = Array.from({ length: 4 }, () => ({ alias: "hero", weight: 2 }));
    expect(capability.adapters?.(parsed({ adapters: four }))).toEqual(four);
    expect(capability.adapters?.(parsed({ adapters: [] }))).toEqual([]);
    expect(capability.adapters?.(parsed({}))).toBeUndefined();
    expect(issues({ adapters: [{ alias: "hero", adapterId: "adp_1" }, {}] })).toEqual([
      "adapters.0: send either alias or adapterId",
      "adapters.1: send either alias or adapterId",
    ]);
    for (const adapters of [
      [...four, { alias: "x" }],
      [{ alias: "x", weight: 2.1 }],
      [{ alias: "x", strength: 1 }],
    ])
      expect(parse({ adapters }).success).toBe(false);
  });

  test("reference images of many megabytes pass validation", () => {
    const dataBase64 = `${"A".repeat(12_000_000)}AA==`;
    expect(
      parse({ referenceImages: [{ dataBase64, filename: "a.png", mimeType: "image/png" }] }).success,
    ).toBe(true);
  });
});

describe("image calls", () => {
  test("edges are rounded up to a multiple of 16", () => {
    expect(call({ width: 1200, height: 630 })).toMatchObject({ width: 1200, height: 640 });
  });

  test("a call has every option of the input", () => {
    const reference = { dataBase64: "iVBORw0K", filename: "a.png", mimeType: "image/png" };
    expect(
      call({
        quality: "high",
        variantCount: 3,
        requestTransparentOutput: true,
        referenceImages: [reference],
      }),
    ).toEqual({
      prompt: "sea",
      width: 1024,
      height: 1024,
      quality: "high",
      count: 3,
      transparent: true,
      referenceImages: [
        { bytes: Buffer.from("iVBORw0K", "base64"), mediaType: "image/png", filename: "a.png" },
      ],
    });
  });

  test.each<[object, string, boolean]>([
    [{}, "gpt-image-1", true],
    [{ width: 1536 }, "gpt-image-1", true],
    [{ width: 1200, height: 640 }, "gpt-image-1", false],
    [{ width: 1200, height: 640 }, "gpt-image-2", true],
    [{ requestTransparentOutput: true }, "gpt-image-1", true],
    [{ requestTransparentOutput: true }, "gpt-image-2", true],
    [{ requestTransparentOutput: true, transparencyMethod: "native" }, "gpt-image-2", false],
    [{ requestTransparentOutput: true }, "sandbox-1", true],
    [{ model: "auto" }, "sandbox-1", true],
    [{ model: "gpt-image-2" }, "gpt-image-2", true],
    [{ model: "gpt-image-2" }, "gpt-image-1", false],
  ])("%j on %s is accepted: %s", (input, id, expected) => expect(accepts(input, id)).toBe(expected));

  test("the prompt has the instructions for a sheet and a matte, but no labels", () => {
    const asked = call({
      prompt: "Knights",
      requestTransparentOutput: true,
      keyColor: "#00ffff",
      sheet: { rows: 2, columns: 3, slice: true, labels: ["Galahad"], animation: { facing: "left" } },
    });
    expect(asked).toMatchObject({
      transparent: false,
      background: "#00ffff",
      sheet: { rows: 2, columns: 3 },
      count: 1,
    });
    expect(asked.prompt).toMatch(/^Knights\n\n.*2 rows and 3 columns.*6 separate/);
    expect(asked.prompt).toMatch(/facing left/);
    expect(asked.prompt).toMatch(/#00ffff \(cyan\)/);
    expect(JSON.stringify(asked)).not.toContain("Galahad");
    // If the model draws a transparent background, the prompt names no color.
    expect(call({ requestTransparentOutput: true })).toMatchObject({ transparent: true, prompt: "sea" });
    const opaque = execution.call(
      parsed({ requestTransparentOutput: true }),
      {},
      model("gpt-image-2"),
      NOTHING,
    );
    expect(opaque).toMatchObject({ transparent: false, background: "#ff00ff" });
  });

  test("variants and bounds follow the variant count", () => {
    const input = parsed({ variantCount: 4 });
    expect(capability.variants?.(input)).toBe(4);
    expect(execution.bounds(input, model("sandbox-1"))).toEqual({ images: 4 });
  });
});

describe("image results", () => {
  const png = (width: number, height: number) => {
    const bytes = whiteSquare();
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return { bytes, mediaType: "image/png" };
  };
  const result = (images: { bytes: Uint8Array; mediaType: string }[], input: object) =>
    execution.result({ images }, parsed(input), { material: NOTHING, model: model("sandbox-1") });

  test("each variant becomes a file with the size in its header", async () => {
    const { typedOutput, files } = await result([png(1024, 1024), png(512, 256)], { variantCount: 2 });
    expect(capability.output.parse(typedOutput)).toEqual({
      images: [
        { variantIndex: 0, width: 1024, height: 1024, mediaType: "image/png", filename: "image-1.png" },
        { variantIndex: 1, width: 512, height: 256, mediaType: "image/png", filename: "image-2.png" },
      ],
    });
    expect(files.map(({ kind, variantIndex, filename }) => [kind, variantIndex, filename])).toEqual([
      ["image", 0, "image-1.png"],
      ["image", 1, "image-2.png"],
    ]);
  });

  test("a file that is not a picture counts as failed, and a picture is named for its bytes", async () => {
    const page = { bytes: Buffer.from("<!doctype html><title>Not found</title>"), mediaType: "image/png" };
    const { files } = await result([page, { ...png(16, 16), mediaType: "image/webp" }], { variantCount: 2 });
    expect(files.map(({ filename }) => filename)).toEqual(["image-1.png"]);
    expect(() => result([page], {})).toThrow("not a PNG, JPEG or WebP");
  });

  test("fewer images than requested are kept, surplus ones are dropped", async () => {
    expect((await result([png(16, 16)], { variantCount: 2 })).files).toHaveLength(1);
    expect((await result([png(16, 16), png(16, 16)], {})).files).toHaveLength(1);
  });

  test.each([[[]], [[{ bytes: new Uint8Array(0), mediaType: "image/png" }]]])(
    "a result without an image is an empty output",
    (images) => {
      expect(() => result(images, {})).toThrow(CapabilityFault);
    },
  );
});
