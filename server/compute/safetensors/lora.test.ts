import { describe, expect, test } from "vitest";
import { GOOD_FILES } from "@/testing/corpora/safetensors/bad-files";
import {
  type FileParts,
  headerOf,
  loraHeader,
  safetensorsFile,
  type TensorEntry,
} from "@/testing/corpora/safetensors/parts";
import { checkHeader, type Header, loraFacts, SafetensorsRefusal } from ".";

async function headerIn(part: FileParts): Promise<Header> {
  const bytes = safetensorsFile(part);
  return checkHeader(bytes, bytes.length);
}

const factsOf = async (part: FileParts) => loraFacts(await headerIn(part));

async function goodHeader(name: string): Promise<Header> {
  const bytes = GOOD_FILES.find((file) => file.name === name)?.bytes() ?? Buffer.alloc(0);
  return checkHeader(bytes, bytes.length);
}

async function refusalOf(part: FileParts): Promise<SafetensorsRefusal> {
  try {
    await factsOf(part);
  } catch (error) {
    if (error instanceof SafetensorsRefusal) return error;
  }
  throw new Error("It was taken for a LoRA.");
}

describe("LoRA facts", () => {
  test.each(GOOD_FILES.filter(({ family }) => family !== undefined))(
    "the base model of $name is $family",
    async ({ bytes, family }) => {
      const file = bytes();
      expect((await loraFacts(await checkHeader(file, file.length))).baseModelFamily).toBe(family);
    },
  );

  test.each(GOOD_FILES.filter(({ family }) => family === undefined))(
    "$name is not a LoRA",
    async ({ bytes }) => {
      const file = bytes();
      const header = await checkHeader(file, file.length);
      await expect(loraFacts(header)).rejects.toMatchObject({ rule: "not_a_lora" });
    },
  );

  test("the facts of a file from kohya's trainer are complete", async () => {
    expect(await loraFacts(await goodHeader("kohya, FLUX"))).toEqual({
      naming: "kohya",
      tensors: 6,
      modules: 2,
      ranks: [16],
      targetModules: ["img_attn_qkv", "linear1"],
      dtypes: ["BF16"],
      baseModelFamily: "flux",
      triggerWords: ["mossy stone", "wet light"],
      recommendedWeight: null,
      title: "Moss",
      licenseName: "Apache-2.0",
    });
  });

  test("tags on every picture are trigger words, and a stated weight is reported", async () => {
    const facts = await loraFacts(await goodHeader("kohya, SD 1.5, tags for trigger words"));
    expect(facts).toMatchObject({
      triggerWords: ["ohwx dog"],
      recommendedWeight: 0.8,
      baseModelFamily: "sd1.5",
    });
  });

  test("differing ranks, convolutions and tensors beside the pairs are reported", async () => {
    const facts = await loraFacts(await goodHeader("a convolution, and two ranks"));
    expect(facts).toMatchObject({
      ranks: [2, 4],
      modules: 2,
      tensors: 5,
      targetModules: ["conv_in", "fc1"],
    });
  });

  test.each([
    ["transformer.transformer_blocks.3.attn.to_out.0", "to_out.0"],
    ["unet.down_blocks.1.attentions.0.transformer_blocks.0.attn2.processor.to_k", "to_k"],
    ["base_model.model.model.layers.0.self_attn.q_proj", "q_proj"],
  ])("the kind of %s is %s", async (module, kind) => {
    expect((await factsOf(loraHeader({ maker: "peft", modules: [module] }))).targetModules).toEqual([kind]);
  });
});

describe("the base model's family", () => {
  const said = async (metadata: Record<string, string>) =>
    (await factsOf(loraHeader({ maker: "peft", modules: ["some.layer"], metadata }))).baseModelFamily;

  test.each([
    ["modelspec.architecture", "flux-1-schnell/lora", "flux"],
    ["modelspec.architecture", "Flux.1-dev/lora", "flux"],
    ["modelspec.architecture", "flux-2-dev/lora", "flux-2"],
    ["modelspec.architecture", "stable-diffusion-xl-v1-base/lora", "sdxl"],
    ["modelspec.architecture", "stable-diffusion-v1/lora", "sd1.5"],
    ["modelspec.architecture", "stable-diffusion-v2-768-v/lora", "sd2"],
    ["modelspec.architecture", "stable-diffusion-3-medium/lora", "sd3"],
    ["modelspec.architecture", "Qwen-Image-Edit/lora", "qwen-image"],
    ["modelspec.architecture", "wan2.1/lora", "wan"],
    ["modelspec.architecture", "hunyuan-video/lora", "hunyuan-video"],
    ["modelspec.architecture", "lumina-2/lora", null],
    ["ss_base_model_version", "sd_v1", "sd1.5"],
    ["ss_base_model_version", "sdxl_base_v1-0", "sdxl"],
    ["ss_base_model_version", "flux1", "flux"],
    ["ss_sd_model_name", "flux1-dev.safetensors", "flux"],
    ["ss_sd_model_name", "my-taiwan.safetensors", null],
    ["ss_sd_model_name", "ponyDiffusionV6.safetensors", null],
  ])("metadata %s %s means the family %s", async (key, value, family) => {
    expect(await said({ [key]: value })).toBe(family);
  });

  const shown = async (modules: string[], inputs: number) =>
    (await factsOf(loraHeader({ maker: "peft", modules, inputs, rank: 1, metadata: {} }))).baseModelFamily;

  test.each([
    [
      "some blocks of FLUX, which others have too",
      ["transformer.single_transformer_blocks.4.attn.to_q"],
      3072,
      null,
    ],
    [
      "the blocks of FLUX in another width",
      ["transformer.single_transformer_blocks.37.attn.to_q"],
      6144,
      null,
    ],
    [
      "a block FLUX does not have",
      ["double_blocks.19.img_attn_qkv", "single_blocks.39.linear1"],
      3072,
      "hunyuan-video",
    ],
    ["SD 3 in diffusers' names", ["transformer.transformer_blocks.0.attn.add_q_proj"], 1536, "sd3"],
    ["blocks of Qwen-Image without the last", ["transformer_blocks.3.attn.add_q_proj"], 3072, null],
    ["a UNet without text attention", ["unet.down_blocks.1.attentions.0.proj_in"], 640, null],
    ["a UNet for SD 2", ["unet.mid_block.attentions.0.transformer_blocks.0.attn2.to_v"], 1024, "sd2"],
    ["Wan", ["diffusion_model.blocks.0.self_attn.q"], 1536, "wan"],
  ])("the family of %s is judged by its layers", async (_, modules, inputs, family) => {
    expect(await shown(modules, inputs)).toBe(family);
  });
});

describe("trigger words and weight", () => {
  const words = async (metadata: Record<string, string>) =>
    (await factsOf(loraHeader({ maker: "peft", modules: ["a.b"], metadata }))).triggerWords;
  const weight = async (value: string) =>
    (await factsOf(loraHeader({ maker: "peft", modules: ["a.b"], metadata: { recommended_weight: value } })))
      .recommendedWeight;

  test("trigger words are stated as a phrase or a list, and returned once each, on one line", async () => {
    expect(await words({ trigger_words: '["ohwx", "dog", "ohwx"]' })).toEqual(["ohwx", "dog"]);
    expect(await words({ trigger_word: " a\n\tb , c,," })).toEqual(["a b", "c"]);
    expect(await words({ trigger_words: "[ohwx]" })).toEqual(["[ohwx]"]);
  });

  test("trigger words are at most 64, of at most 255 characters", async () => {
    const many = await words({
      trigger_words: JSON.stringify(Array.from({ length: 100 }, (_, n) => `w${n}`)),
    });
    expect(many).toHaveLength(64);
    expect((await words({ trigger_words: "🦊".repeat(300) }))[0]).toBe("🦊".repeat(255));
  });

  test("tags are trigger words only if they are unambiguous", async () => {
    expect(await words({ ss_tag_frequency: '{"a":{"x":3,"y":3}}' })).toEqual([]);
    expect(await words({ ss_tag_frequency: '{"a":{"x":4,"y":3}}' })).toEqual(["x"]);
    for (const odd of ["{", "[]", "null", '{"a":[1]}', '{"a":{"x":"3"}}', "{}"]) {
      expect(await words({ ss_tag_frequency: odd, ss_dataset_dirs: odd }), odd).toEqual([]);
    }
  });

  test.each([
    ["0.8", 0.8],
    ["2", 2],
    ["0", 0],
    ["2.5", null],
    ["-1", null],
    ["1e0", null],
    ["strong", null],
  ])("a stated weight of %s is read or ignored", async (value, expected) => {
    expect(await weight(value)).toBe(expected);
  });
});

describe("a file that is not a LoRA", () => {
  test.each<[string, TensorEntry[]]>([
    ["a full model", [["model.layers.0.weight", "F16", [2, 2]]]],
    ["a half alone", [["a.lora_down.weight", "F16", [2, 4]]]],
    ["alpha alone", [["a.alpha", "F16", []]]],
    [
      "halves that do not multiply",
      [
        ["a.lora_A.weight", "F16", [2, 4]],
        ["a.lora_B.weight", "F16", [4, 3]],
      ],
    ],
    [
      "halves that are no matrices",
      [
        ["a.lora_A.weight", "F16", [2]],
        ["a.lora_B.weight", "F16", [2]],
      ],
    ],
    ["LoHa", [["a.hada_w1_a", "F16", [2, 2]]]],
  ])("a file with %s is refused", async (_, tensors) => {
    expect((await refusalOf(headerOf({}, tensors))).rule).toBe("not_a_lora");
  });

  test("the refusal names the tensor whose other half is missing", async () => {
    const { place, message } = await refusalOf(headerOf({}, [["a.b.lora_A.weight", "F16", [2, 4]]]));
    expect(place).toEqual({ tensor: "a.b.lora_A.weight" });
    expect(message).toContain("other half");
  });
});
