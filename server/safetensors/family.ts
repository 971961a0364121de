import type { LoraPair } from "./lora";

/** What metadata calls a model, and the family it is of; the first that fits. */
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

/** The base model's family: what metadata says and what the names and shapes show must agree, or one be silent. */
export function familyOf(metadata: ReadonlyMap<string, string>, pairs: readonly LoraPair[]): string | null {
  const said = familySaid(metadata);
  const shown = familyShown(pairs);
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

/** The families whose layers have these names, numbers and widths and no other's have. */
function familyShown(pairs: readonly LoraPair[]): string | null {
  const layers = pairs.map(({ module, down, up }) => ({
    name: module.replace(PREFIX, "").replaceAll(".", "_"),
    inputs: down.shape[1] ?? 0,
    outputs: up.shape[0] ?? 0,
  }));
  const named = (pattern: RegExp) => layers.filter(({ name }) => pattern.test(name));
  /** The highest number of a block so named; -1 for none. */
  const last = (pattern: RegExp) =>
    layers.reduce((most, { name }) => Math.max(most, Number(pattern.exec(name)?.[1] ?? -1)), -1);
  const isWide = (width: number) =>
    layers.some(({ inputs, outputs }) => inputs === width || outputs === width);

  if (named(/^joint_blocks_\d+_(context|x)_block_/).length > 0) return "sd3";

  const attended = named(
    /^(down_blocks|up_blocks|mid_block|input_blocks|output_blocks|middle_block)_.*attn2_(processor_)?to_[kv]$/,
  );
  if (attended.length > 0) {
    const [width, ...others] = new Set(attended.map(({ inputs }) => inputs));
    const family = width === 768 ? "sd1.5" : width === 1024 ? "sd2" : width === 2048 ? "sdxl" : null;
    return others.length === 0 ? family : null;
  }

  if (named(/^blocks_\d+_(self|cross)_attn_[qkvo]$/).length > 0) {
    return isWide(5120) || isWide(1536) || isWide(3072) ? "wan" : null;
  }

  const double = last(/^(?:double_blocks|transformer_blocks)_(\d+)_/);
  const single = last(/^(?:single_blocks|single_transformer_blocks)_(\d+)_/);
  const isMixed = named(/^double_blocks_|^single_/).length > 0;
  if (isMixed && isWide(3072)) {
    if (double > 19 || single > 39) return null;
    if (double === 19 || single > 37) return "hunyuan-video";
    const isOther = named(/_mlp_fc[12]$|_qkv_mlp_proj$/).length > 0;
    return !isOther && (double === 18 || single === 37) ? "flux" : null;
  }
  if (!isMixed && named(/^transformer_blocks_\d+_(attn_(add|to)_|img_|txt_)/).length > 0) {
    if (double === 59 && isWide(3072)) return "qwen-image";
    if (named(/_attn_add_[qkv]_proj$/).length > 0 && (isWide(1536) || isWide(2432))) return "sd3";
  }
  return null;
}
