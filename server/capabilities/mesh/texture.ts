import { meshSettingsOf, TEXTURE_PROMPT_CHARACTERS, textureReferenceOf } from "@/server/contract/meshes";
import type { ModelFacts } from "@/server/providers/define";
import { inCharacters } from "../define";

const TEXTURE_PROMPT = inCharacters(TEXTURE_PROMPT_CHARACTERS, { "meshy-6": 600, "meshy-5": 600 });
export const TEXTURE_CONSTRAINTS = {
  "meshSettings.texturePrompt": TEXTURE_PROMPT,
  "meshSettings.overrides.texturePrompt": TEXTURE_PROMPT,
};

/** Can this model follow a texture prompt and a reference picture together, if the input has both? */
export function acceptsTexture(input: Parameters<typeof meshSettingsOf>[0], model: ModelFacts): boolean {
  const hasBoth = meshSettingsOf(input).texture?.prompt && textureReferenceOf(input);
  return !hasBoth || (model.supports.textureByBoth ?? false);
}
