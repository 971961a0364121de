import type { ContentPart, ModelFacts, TextMessage } from "./define";

export type PromptPicture = Pick<Extract<ContentPart, { type: "image" }>, "width" | "height">;

export const promptPictures = ({ content }: TextMessage): PromptPicture[] =>
  typeof content === "string" ? [] : content.filter((part) => part.type === "image");

/**
 * Maximum tokens of a picture: by its pixels if the vendor documents how, and never above the model's maximum. NaN if
 * no bound is known; such a model must not receive pictures.
 */
export function pictureTokensAtMost(
  { imageTokens = Number.NaN, imagePatch }: Pick<ModelFacts, "imageTokens" | "imagePatch">,
  { width, height }: PromptPicture,
): number {
  if (!imagePatch || width === undefined || height === undefined) return imageTokens;
  const { edge, tokensPerHundred = 100, least = 0 } = imagePatch;
  const patches = Math.ceil(width / edge) * Math.ceil(height / edge);
  return Math.min(imageTokens, Math.max(least, Math.ceil((patches * tokensPerHundred) / 100)));
}
