/*
 * Families of base models: LoRA weights trained on one member work with the others and with no other model. Providers
 * declare the family of each model, and sources and files declare theirs; a route is used only if both agree.
 */

import { ownKeys } from "./own-keys";

type Family = {
  title: string;
  /** Ids of base models on the Hugging Face Hub, in lower case. */
  hubIds: readonly (string | RegExp)[];
};

const FAMILIES_BY_NAME = {
  flux: {
    title: "FLUX.1",
    // [schnell] and Krea share the layers of [dev]. So does Kontext, but it is trained for editing and has a family of
    // its own.
    hubIds: [
      /^black-forest-labs\/flux\.1-(dev|schnell|krea-dev|lite-8b)(-onnx)?$/,
      "black-forest-labs/flux.1",
      "ostris/openflux.1",
      "freepik/flux.1-lite-8b-alpha",
      "shuttleai/shuttle-3-diffusion",
    ],
  },
  "flux-kontext": { title: "FLUX.1 Kontext", hubIds: [/^black-forest-labs\/flux\.1-kontext-/] },
  "flux-2": { title: "FLUX.2", hubIds: [/^black-forest-labs\/flux\.2-/] },
  sdxl: {
    title: "Stable Diffusion XL",
    hubIds: [
      /^stabilityai\/(stable-diffusion-xl-(base|refiner)-|sdxl-turbo$)/,
      "segmind/ssd-1b",
      "cagliostrolab/animagine-xl-3.0",
      "cagliostrolab/animagine-xl-3.1",
      "cagliostrolab/animagine-xl-4.0",
      /^onomaairesearch\/illustrious-xl/,
      /^rundiffusion\/juggernaut-xl/,
      "astraliteheart/pony-diffusion-v6",
      /^playgroundai\/playground-v2\.5-/,
    ],
  },
  "sd1.5": {
    title: "Stable Diffusion 1.5",
    hubIds: [
      /^(runwayml|stable-diffusion-v1-5|sd-legacy|benjamin-paine)\/stable-diffusion-v1-5$/,
      /^compvis\/stable-diffusion-v1-[1-4]$/,
      "lykon/dreamshaper-8",
    ],
  },
  sd2: {
    title: "Stable Diffusion 2",
    hubIds: [/^(stabilityai|sd2-community)\/stable-diffusion-2(-1)?(-base)?$/],
  },
  sd3: {
    title: "Stable Diffusion 3",
    hubIds: [/^stabilityai\/stable-diffusion-3-medium(-diffusers)?$/],
  },
  "sd3.5-medium": {
    title: "Stable Diffusion 3.5 Medium",
    hubIds: ["stabilityai/stable-diffusion-3.5-medium"],
  },
  "sd3.5-large": {
    title: "Stable Diffusion 3.5 Large",
    hubIds: [/^stabilityai\/stable-diffusion-3\.5-large(-turbo)?$/],
  },
  "qwen-image": { title: "Qwen-Image", hubIds: [/^qwen\/qwen-image(-2512)?$/] },
  "qwen-image-edit": { title: "Qwen-Image-Edit", hubIds: [/^qwen\/qwen-image-edit(-\d+)?$/] },
  "z-image": { title: "Z-Image", hubIds: [/^tongyi-mai\/z-image(-turbo|-base)?$/] },
  wan: { title: "Wan", hubIds: [/^wan-ai\/wan2\.[12]-/] },
  "hunyuan-video": {
    title: "HunyuanVideo",
    hubIds: [/^(tencent|hunyuanvideo-community)\/hunyuanvideo(-1\.5)?$/],
  },
  hidream: { title: "HiDream-I1", hubIds: [/^hidream-ai\/hidream-i1-/] },
  chroma: { title: "Chroma", hubIds: [/^lodestones\/chroma/] },
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES_BY_NAME;

/** All families, with name and title. */
export const FAMILIES: readonly { name: FamilyName; title: string }[] = ownKeys(FAMILIES_BY_NAME) // the keys of the table are the family names
  .map((name) => ({ name, title: FAMILIES_BY_NAME[name].title }));

export const isFamilyName = (text: string): text is FamilyName => Object.hasOwn(FAMILIES_BY_NAME, text);

/** The family of a base model by its id on the Hub (`black-forest-labs/FLUX.1-dev`); null if the model is unknown. */
export function familyOfHubId(id: string): FamilyName | null {
  const wanted = id.trim().toLowerCase();
  const found = FAMILIES.find(({ name }) => {
    const ids: Family["hubIds"] = FAMILIES_BY_NAME[name].hubIds;
    return ids.some((each) => (typeof each === "string" ? each === wanted : each.test(wanted)));
  });
  return found?.name ?? null;
}

/**
 * The family that a common name means (`FLUX.1`, `SDXL 1.0`, `Stable Diffusion 1.5`). Null if the name is unknown or
 * could mean two families.
 */
export function familyOfWord(text: string): FamilyName | null {
  const word = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "-");
  if (isFamilyName(word)) return word;
  return familyOfHubId(text) ?? SPOKEN.get(word) ?? null;
}

const SPOKEN: ReadonlyMap<string, FamilyName> = new Map([
  ["flux.1", "flux"],
  ["flux-1", "flux"],
  ["flux1", "flux"],
  ["flux-dev", "flux"],
  ["flux.1-dev", "flux"],
  ["flux.1-d", "flux"],
  ["flux.1-s", "flux"],
  ["flux-schnell", "flux"],
  ["flux.1-schnell", "flux"],
  ["flux.1-krea", "flux"],
  ["flux-krea", "flux"],
  ["flux.1-kontext", "flux-kontext"],
  ["flux.2", "flux-2"],
  ["sdxl-1.0", "sdxl"],
  ["sd-xl", "sdxl"],
  ["stable-diffusion-xl", "sdxl"],
  ["pony", "sdxl"],
  ["illustrious", "sdxl"],
  ["sd1", "sd1.5"],
  ["sd15", "sd1.5"],
  ["flux2", "flux-2"],
  ["sd-1.5", "sd1.5"],
  ["stable-diffusion-1.5", "sd1.5"],
  ["sd-2.1", "sd2"],
  ["sd2.1", "sd2"],
  ["sd-3", "sd3"],
  ["qwen-image-2512", "qwen-image"],
] as const);
