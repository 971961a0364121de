import type { LoraPair } from "./pair";

/** Patterns of model names in metadata, and the family of each; the first match counts. */
const CALLED: readonly [RegExp, string][] = [
  [/qwen[-_ ]?image/, "qwen-image"],
  [/hunyuan[-_ ]?video/, "hunyuan-video"],
  [/(^|[^a-z])wan[-_ ]?(2|video|$)/, "wan"],
  [/chroma/, "chroma"],
  [/flux[-_. ]?2/, "flux-2"],
  [/flux/, "flux"],
  [/stable-diffusion-xl|sd[-_ ]?xl/, "sdxl"],
  [/stable-diffusion-3|sd[-_ ]?3/, "sd3"],
  [/stable-diffusion-v2|sd[-_]?v2/, "sd2"],
  [/stable-diffusion-v1|sd[-_]?v1|v1-5|sd[-_ ]?1[._]?5/, "sd1.5"],
];

const SAID_BY = [
  "modelspec.architecture",
  "ss_base_model_version",
  "base_model",
  "baseModel",
  "ss_sd_model_name",
];

/** Finds the base model's family; null if unknown. If the metadata and the layers both show a family, they must agree. */
export function* findFamily(
  metadata: ReadonlyMap<string, string>,
  pairs: readonly LoraPair[],
): Generator<undefined, string | null> {
  const said = familySaid(metadata);
  const shown = familyShown(yield* look(pairs));
  if (said && shown) return said === shown ? said : null;
  return said ?? shown;
}

function familySaid(metadata: ReadonlyMap<string, string>): string | null {
  for (const key of SAID_BY) {
    const value = metadata.get(key)?.slice(0, 256).toLowerCase();
    const family = value && CALLED.find(([pattern]) => pattern.test(value))?.[1];
    if (family) return family;
  }
  return null;
}

const PREFIX =
  /^(base_model\.model\.)?(model\.diffusion_model\.|diffusion_model\.|transformer\.|unet\.|lora_unet_|lora_transformer_)?/;

/** Layer names that show the model. */
const MARKS = {
  sd3: /^joint_blocks_\d+_(context|x)_block_/,
  wan: /^blocks_\d+_(self|cross)_attn_[qkvo]$/,
  mixed: /^(double_blocks|single_blocks|single_transformer_blocks)_/,
  notFlux: /_mlp_fc[12]$|_qkv_mlp_proj$/,
  joint: /^transformer_blocks_\d+_(attn_(add|to)_|img_|txt_)/,
  jointAdded: /^transformer_blocks_\d+_.*attn_add_[qkv]_proj$/,
} as const;

const TEXT_ATTENTION =
  /^(down_blocks|up_blocks|mid_block|input_blocks|output_blocks|middle_block)_.*attn2_(processor_)?to_[kv]$/;
const DOUBLE = /^(?:double_blocks|transformer_blocks)_(\d{1,4})_/;
const SINGLE = /^(?:single_blocks|single_transformer_blocks)_(\d{1,4})_/;

/** Observations over all layers. */
type Sight = {
  marks: Set<keyof typeof MARKS>;
  /** Input and output widths of all layers. */
  widths: Set<number>;
  /** Input widths of a UNet's attention to the text. */
  textWidths: Set<number>;
  /** Highest block number of each kind; -1 for none. */
  lastDouble: number;
  lastSingle: number;
};

function* look(pairs: readonly LoraPair[]): Generator<undefined, Sight> {
  const sight: Sight = {
    marks: new Set(),
    widths: new Set(),
    textWidths: new Set(),
    lastDouble: -1,
    lastSingle: -1,
  };
  for (const [n, { module, down, up }] of pairs.entries()) {
    if (n % 256 === 0) yield;
    const name = module.replace(PREFIX, "").replaceAll(".", "_");
    for (const mark of Object.keys(MARKS) as (keyof typeof MARKS)[]) {
      if (MARKS[mark].test(name)) sight.marks.add(mark);
    }
    sight.widths.add(down.shape[1] ?? 0).add(up.shape[0] ?? 0);
    if (TEXT_ATTENTION.test(name)) sight.textWidths.add(down.shape[1] ?? 0);
    sight.lastDouble = Math.max(sight.lastDouble, Number(DOUBLE.exec(name)?.[1] ?? -1));
    sight.lastSingle = Math.max(sight.lastSingle, Number(SINGLE.exec(name)?.[1] ?? -1));
  }
  return sight;
}

const TEXT_WIDTHS = new Map([
  [768, "sd1.5"],
  [1024, "sd2"],
  [2048, "sdxl"],
]);

/** The family that alone has layers with these names, numbers and widths; null if there is none. */
function familyShown({ marks, widths, textWidths, lastDouble, lastSingle }: Sight): string | null {
  if (marks.has("sd3")) return "sd3";
  const [textWidth, ...others] = textWidths;
  if (textWidth !== undefined) return others.length === 0 ? (TEXT_WIDTHS.get(textWidth) ?? null) : null;
  if (marks.has("wan")) return [5120, 3072, 1536].some((width) => widths.has(width)) ? "wan" : null;
  if (marks.has("mixed")) {
    if (!widths.has(3072) || lastDouble > 19 || lastSingle > 39) return null;
    if (lastDouble === 19 || lastSingle > 37) return "hunyuan-video";
    return !marks.has("notFlux") && (lastDouble === 18 || lastSingle === 37) ? "flux" : null;
  }
  if (!marks.has("joint")) return null;
  if (lastDouble === 59 && widths.has(3072)) return "qwen-image";
  return marks.has("jointAdded") && (widths.has(1536) || widths.has(2432)) ? "sd3" : null;
}
