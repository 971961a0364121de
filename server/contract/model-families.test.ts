import { expect, test } from "vitest";
import { providers } from "../providers/registry.gen";
import { FAMILIES, familyOfHubId, familyOfWord, isFamilyName } from "./model-families";

test.each([
  ["black-forest-labs/FLUX.1-dev", "flux"],
  ["black-forest-labs/FLUX.1-schnell", "flux"],
  ["black-forest-labs/FLUX.1-Krea-dev", "flux"],
  ["black-forest-labs/FLUX.1-Kontext-dev", "flux-kontext"],
  ["black-forest-labs/FLUX.2-dev", "flux-2"],
  ["stabilityai/stable-diffusion-xl-base-1.0", "sdxl"],
  ["stabilityai/sdxl-turbo", "sdxl"],
  ["runwayml/stable-diffusion-v1-5", "sd1.5"],
  ["stable-diffusion-v1-5/stable-diffusion-v1-5", "sd1.5"],
  ["CompVis/stable-diffusion-v1-4", "sd1.5"],
  ["stabilityai/stable-diffusion-2-1-base", "sd2"],
  ["stabilityai/stable-diffusion-3-medium-diffusers", "sd3"],
  ["stabilityai/stable-diffusion-3.5-large", "sd3.5-large"],
  ["stabilityai/stable-diffusion-3.5-medium", "sd3.5-medium"],
  ["Qwen/Qwen-Image", "qwen-image"],
  ["Qwen/Qwen-Image-Edit-2509", "qwen-image-edit"],
  ["Tongyi-MAI/Z-Image-Turbo", "z-image"],
] as const)("%s belongs to the family %s", (id, family) => expect(familyOfHubId(id)).toBe(family));

test.each([
  "someone/my-flux-lora",
  "meta-llama/Llama-3.1-8B",
  "evil/black-forest-labs/FLUX.1-dev",
  "black-forest-labs/FLUX.1-dev-evil",
  "constructor",
  "",
])("%j belongs to no family", (id) => {
  expect(familyOfHubId(id)).toBeNull();
  expect(familyOfWord(id)).toBeNull();
});

test("a family is found by its common names", () => {
  for (const { name } of FAMILIES) expect(familyOfWord(name.toUpperCase())).toBe(name);
  expect(familyOfWord("FLUX.1 [dev]")).toBeNull();
  expect(familyOfWord("Flux.1 D")).toBe("flux");
  expect(familyOfWord("Stable Diffusion XL")).toBe("sdxl");
  expect(familyOfWord("SD 1.5")).toBe("sd1.5");
  expect(isFamilyName("toString")).toBe(false);
});

test("exactly the models that accept LoRA weights declare families", () => {
  const takers = providers.flatMap(({ name, models }) =>
    models.flatMap(({ id, supports, families }) => (supports.adapters ? [[`${name}/${id}`, families]] : [])),
  );
  expect(Object.fromEntries(takers)).toMatchObject({
    "fal/fal-ai/flux-lora": ["flux"],
    "replicate/black-forest-labs/flux-dev-lora": ["flux"],
  });
  for (const [, families] of takers) expect(families?.length).toBeGreaterThan(0);
  const others = providers.flatMap(({ models }) => models.filter(({ supports }) => !supports.adapters));
  expect(others.filter(({ families }) => families !== undefined)).toEqual([]);
});
