import { DTYPE_BITS, type Dtype } from "@/server/compute/safetensors/dtypes";
import { SAFETENSORS_LIMITS } from "@/server/compute/safetensors/rules";
import { type FileParts, headerOf, loraHeader, safetensorsFile, type TensorEntry } from "./parts";

/** A valid file. `family` is set for a LoRA, and null if its base model is not recognized. */
export type GoodFile = { name: string; bytes: () => Buffer; family?: string | null };

const TAGS = JSON.stringify({ "10_ohwx dog": { "ohwx dog": 20, outdoors: 7 } });
const DIRS = JSON.stringify({ "10_ohwx dog": { n_repeats: 10, img_count: 20 } });

const KOHYA_FLUX = {
  maker: "kohya",
  modules: ["lora_unet_double_blocks_18_img_attn_qkv", "lora_unet_single_blocks_37_linear1"],
  rank: 16,
  inputs: 3072,
  outputs: 64,
  dtype: "BF16",
  metadata: {
    "modelspec.architecture": "flux-1-dev/lora",
    "modelspec.title": "Moss",
    "modelspec.trigger_phrase": "mossy stone, wet light",
    "modelspec.license": "Apache-2.0",
    ss_base_model_version: "flux1",
    ss_network_dim: "16",
  },
} as const;

const unet = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0";

/** A header with the given JSON, and data for tensors of U8. */
const written = (text: string, data: number): FileParts => ({
  header: Buffer.from(text),
  data: Buffer.alloc(data),
});

const everyDtype = Object.keys(DTYPE_BITS).map((dtype): TensorEntry => [dtype, dtype as Dtype, [2, 4]]);

/** Valid files of different makers, dtypes and layouts. */
export const GOOD_FILES: readonly GoodFile[] = [
  {
    name: "kohya, FLUX",
    family: "flux",
    bytes: () => safetensorsFile(loraHeader({ ...KOHYA_FLUX, modules: [...KOHYA_FLUX.modules] })),
  },
  {
    name: "kohya, SDXL, by shapes alone",
    family: "sdxl",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "kohya",
          modules: [
            `${unet}_attn2_to_k`,
            `${unet}_attn2_to_v`,
            "lora_te2_text_model_encoder_layers_0_mlp_fc1",
          ],
          rank: 8,
          inputs: 2048,
          outputs: 640,
        }),
      ),
  },
  {
    name: "kohya, SD 1.5, tags for trigger words",
    family: "sd1.5",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "kohya",
          modules: [`${unet}_attn2_to_k`],
          inputs: 768,
          dtype: "F32",
          metadata: {
            ss_sd_model_name: "v1-5-pruned-emaonly.safetensors",
            ss_tag_frequency: TAGS,
            ss_dataset_dirs: DIRS,
            recommended_weight: "0.8",
          },
        }),
      ),
  },
  {
    name: "diffusers, SDXL",
    family: "sdxl",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "diffusers",
          modules: ["unet.down_blocks.1.attentions.0.transformer_blocks.0.attn2.to_k"],
          inputs: 2048,
        }),
      ),
  },
  {
    name: "PEFT, FLUX, no metadata",
    family: "flux",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "peft",
          modules: [
            "transformer.transformer_blocks.18.attn.to_q",
            "transformer.single_transformer_blocks.37.attn.to_out.0",
          ],
          rank: 4,
          inputs: 3072,
          dtype: "BF16",
          metadata: {},
        }),
      ),
  },
  {
    name: "XLabs, FLUX",
    family: "flux",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "xlabs",
          modules: ["double_blocks.18.processor.proj_lora1", "double_blocks.18.processor.qkv_lora2"],
          inputs: 3072,
          metadata: {},
        }),
      ),
  },
  {
    name: "PEFT, Qwen-Image",
    family: "qwen-image",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "peft",
          modules: ["transformer_blocks.0.img_mlp.net.2", "transformer_blocks.59.attn.to_q"],
          inputs: 3072,
        }),
      ),
  },
  {
    name: "PEFT, Wan",
    family: "wan",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "peft",
          modules: ["diffusion_model.blocks.0.cross_attn.k", "diffusion_model.blocks.29.ffn.0"],
          inputs: 5120,
          rank: 1,
        }),
      ),
  },
  {
    name: "kohya, SD 3",
    family: "sd3",
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "kohya",
          modules: ["lora_unet_joint_blocks_0_context_block_attn_qkv"],
          metadata: { "modelspec.architecture": "stable-diffusion-3-5-large/lora" },
        }),
      ),
  },
  {
    name: "PEFT, a language model",
    family: null,
    bytes: () =>
      safetensorsFile(
        loraHeader({ maker: "peft", modules: ["base_model.model.model.layers.0.self_attn.q_proj"] }),
      ),
  },
  {
    name: "a convolution, and two ranks",
    family: null,
    bytes: () =>
      safetensorsFile(
        headerOf({}, [
          ["lora_unet_conv_in.lora_down.weight", "F16", [4, 4, 3, 3]],
          ["lora_unet_conv_in.lora_up.weight", "F16", [8, 4, 1, 1]],
          ["lora_te_fc1.lora_down.weight", "F16", [2, 8]],
          ["lora_te_fc1.lora_up.weight", "F16", [8, 2]],
          ["lora_te_fc1.dora_scale", "F16", [8, 1]],
        ]),
      ),
  },
  {
    name: "metadata that contradicts the layers",
    family: null,
    bytes: () =>
      safetensorsFile(
        loraHeader({
          maker: "kohya",
          modules: [`${unet}_attn2_to_k`],
          inputs: 768,
          metadata: { ss_base_model_version: "sdxl_base_v1-0" },
        }),
      ),
  },
  { name: "a tensor of every dtype", bytes: () => safetensorsFile(headerOf({ format: "np" }, everyDtype)) },
  {
    name: "scalars and tensors of no elements",
    bytes: () =>
      safetensorsFile(
        headerOf({}, [
          ["first", "F32", [0]],
          ["scalar", "F64", []],
          ["middle", "F16", [4, 0, 9]],
          ["again", "F16", [0, 4]],
          ["last", "I8", [3]],
          ["end", "U8", [0]],
        ]),
      ),
  },
  {
    name: "nothing but a tensor of no elements",
    bytes: () => safetensorsFile(headerOf({}, [["nothing", "F32", [0, 3]]])),
  },
  {
    name: "entries in another order than their data",
    bytes: () =>
      safetensorsFile(
        written(
          '{"a":{"shape":[2],"data_offsets":[2,4],"dtype":"U8"},"b":{"data_offsets":[0,2],"dtype":"U8","shape":[2]},"__metadata__":{"format":"mlx"}}',
          4,
        ),
      ),
  },
  {
    name: "spaced and broken into lines, padded to 8 bytes",
    bytes: () => {
      const { header, data } = headerOf({ format: "pt" }, [["a.b", "F32", [2, 2]]], (value) =>
        JSON.stringify(value, null, "\t"),
      );
      return safetensorsFile({
        header: Buffer.concat([header, Buffer.alloc(8 - (header.length % 8), " ")]),
        data,
      });
    },
  },
  {
    name: "names in many scripts, and escaped",
    bytes: () =>
      safetensorsFile(
        written(
          '{"вес.層.🦊":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\\ud83e\\udd8a\\u0062":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"__metadata__":{"\\"a\\"":"\\n\\u0000\\ud83e\\udd8a/é","constructor":"","tar":"ustar"}}',
          2,
        ),
      ),
  },
  {
    name: "a header of 16 MiB, most of it one value",
    bytes: () => {
      const start = '{"__metadata__":{"workflow":"';
      const end = '"},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}';
      const filler = "\\u00e9 é🦊".repeat(600_000);
      return safetensorsFile(written(`${start}${filler}${end}`.padEnd(paddedLength(start + end, filler)), 4));
    },
  },
  {
    name: "50,000 tensors",
    bytes: () =>
      safetensorsFile(
        headerOf(
          {},
          Array.from(
            { length: SAFETENSORS_LIMITS.tensors },
            (_, n): TensorEntry => [`layer.${n}.weight`, "I8", [1]],
          ),
        ),
      ),
  },
  {
    name: "a ZIP mark in the weights, but no directory that ends the file",
    bytes: () => {
      const part = headerOf({}, [["a", "U8", [200]]]);
      part.data.write("PK\x05\x06", 100, "latin1");
      return safetensorsFile(part);
    },
  },
];

/** Length in characters that makes the header exactly as long as allowed. */
function paddedLength(plain: string, filler: string): number {
  return (
    plain.length +
    filler.length +
    SAFETENSORS_LIMITS.headerBytes -
    Buffer.byteLength(plain) -
    Buffer.byteLength(filler)
  );
}
