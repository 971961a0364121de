import { describe, expect, test } from "vitest";
import { z } from "zod";
import sandbox from "@/server/providers/sandbox";
import { type CapabilityDefinition, CapabilityFault, type SourceFile } from "./define";
import mesh from "./model.generate.3d.v1";

// The registry erases input types; these tests know them.
const capability = mesh as unknown as CapabilityDefinition<unknown, unknown, unknown>;
const { execute } = capability;
if ("local" in execute || execute.port !== "mesh") throw new Error("not a mesh capability");
const execution = execute;
const model = sandbox.models.find(({ id, port }) => id === "sandbox-1" && port === "mesh");
if (!model) throw new Error("no model");

const withInput = (input: object) => ({ inputArtifactIds: ["art_1"], ...input });
const parse = (input: object) => capability.input.safeParse(withInput(input));
const fields = (input: object) => parse(input).error?.issues.map(({ path }) => path.join("."));

const file = (artifactId: string): SourceFile => ({
  artifactId,
  bytes: Buffer.from(artifactId),
  mediaType: "image/png",
  filename: null,
  sha256: "0".repeat(64),
});
async function callOf(input: object) {
  const parsed = capability.input.parse(withInput(input));
  const named = execution.sources?.(parsed) ?? [];
  const files = named.map(({ artifactId }) => file(artifactId));
  const material = await execution.materialize?.(parsed, files);
  return {
    fields: named.map(({ field }) => field.join(".")),
    call: execution.call(parsed, {}, model as NonNullable<typeof model>, material),
  };
}
const picture = (id: string) => ({ bytes: Buffer.from(id), mediaType: "image/png" });

describe("mesh input", () => {
  test("every example is valid, and defaults are as published", async () => {
    for (const { input } of capability.examples) expect(capability.input.safeParse(input).success).toBe(true);
    expect((await callOf({})).call).toEqual({
      images: [picture("art_1")],
      profile: "toy_default",
      texture: null,
    });
    const schema = z.toJSONSchema(capability.input, { io: "input" }).properties ?? {};
    expect(schema.meshProfile).toMatchObject({ default: "toy_default" });
    expect(schema.meshSettings).toMatchObject({
      properties: {
        shouldTexture: { default: false },
        texturePrompt: { maxLength: 800 },
        overrides: { properties: { texturePrompt: { maxLength: 800 } } },
      },
    });
  });

  test.each<[object, string]>([
    [{ inputArtifactIds: [] }, "inputArtifactIds"],
    [{ inputArtifactIds: ["a", "b", "c", "d", "e"] }, "inputArtifactIds"],
    [{ inputArtifactIds: [""] }, "inputArtifactIds.0"],
    [{ meshProfile: "best" }, "meshProfile"],
    [{ format: "fbx" }, "format"],
    [{ conceptArtifactId: "" }, "conceptArtifactId"],
    [{ meshSettings: { shouldTexture: "yes" } }, "meshSettings.shouldTexture"],
    [{ meshSettings: { quality: 3 } }, "meshSettings"],
    [{ prompt: "a chair" }, ""],
    [{ meshProfile: "hero_hd", meshSettings: { profile: "draft_fast" } }, "meshSettings.profile"],
    [
      { textureReferenceArtifactId: "a", meshSettings: { textureReferenceArtifactId: "b" } },
      "meshSettings.textureReferenceArtifactId",
    ],
    [{ meshSettings: { shouldTexture: false, texturePrompt: "gold" } }, "meshSettings.shouldTexture"],
    [
      { meshSettings: { shouldTexture: false }, textureReferenceArtifactId: "a" },
      "meshSettings.shouldTexture",
    ],
  ])("%j is refused at %s", (input, field) => expect(fields(input)).toEqual([field]));

  test("equal settings in both places are no conflict", async () => {
    const { call } = await callOf({
      meshProfile: "hero_hd",
      meshSettings: { profile: "hero_hd", textureReferenceArtifactId: "art_t" },
      textureReferenceArtifactId: "art_t",
    });
    expect(call).toEqual({
      images: [picture("art_1")],
      profile: "hero_hd",
      texture: { image: picture("art_t") },
    });
  });
});

describe("mesh calls", () => {
  test.each<[object, object | null]>([
    [{}, null],
    [{ shouldTexture: true }, {}],
    [{ texturePrompt: "gold" }, { prompt: "gold" }],
    [{ texturePrompt: "gold", overrides: { texturePrompt: "lead", seed: 4 } }, { prompt: "lead" }],
    [{ shouldTexture: true, textureMode: "pbr" }, { mode: "pbr" }],
  ])("settings %j make the texture %j", async (meshSettings, texture) => {
    expect((await callOf({ meshSettings })).call).toMatchObject({ texture });
  });

  test("the texture follows the concept if no other reference is given", async () => {
    const meshSettings = { shouldTexture: true };
    expect((await callOf({ conceptArtifactId: "art_c" })).call).toMatchObject({ texture: null });
    expect((await callOf({ conceptArtifactId: "art_c", meshSettings })).call).toMatchObject({
      texture: { image: picture("art_c") },
    });
    const both = await callOf({ conceptArtifactId: "art_c", textureReferenceArtifactId: "art_t" });
    expect(both.call).toMatchObject({ texture: { image: picture("art_t") } });
    expect(both.fields).toEqual([
      "input.inputArtifactIds.0",
      "input.textureReferenceArtifactId",
      "input.conceptArtifactId",
    ]);
  });
});

test("an answer without a mesh is an empty output", () => {
  const input = capability.input.parse(withInput({}));
  const empty = { mesh: { bytes: new Uint8Array(0), mediaType: "model/gltf-binary" } };
  expect(() => execution.result(empty, input, { material: undefined, model })).toThrow(CapabilityFault);
});
