import type { ContentPart, ModelFacts, TextMessage } from "./define";

/* How many tokens pictures in a conversation are. */

export type Picture = Pick<Extract<ContentPart, { type: "image" }>, "width" | "height">;

/** The pictures of a message. */
export const picturesOf = ({ content }: TextMessage): Picture[] =>
  typeof content === "string" ? [] : content.filter((part) => part.type === "image");

/**
 * Tokens that a picture counts as, at most: by its pixels where the model's vendor says how, never more than the model's most.
 * NaN where no bound is known: such a model must not be asked to read one.
 */
export function pictureTokensAtMost(
  { imageTokens = Number.NaN, imagePatch }: Pick<ModelFacts, "imageTokens" | "imagePatch">,
  { width, height }: Picture,
): number {
  if (!imagePatch || width === undefined || height === undefined) return imageTokens;
  const { edge, tokensPerHundred = 100, least = 0 } = imagePatch;
  const patches = Math.ceil(width / edge) * Math.ceil(height / edge);
  return Math.min(imageTokens, Math.max(least, Math.ceil((patches * tokensPerHundred) / 100)));
}
