import type { ModelFacts } from "@/server/providers/define";

type Size = { width: number; height: number };

/**
 * The nearest size that a model can draw. With a list of sizes it is the one with the most similar shape; otherwise the
 * wanted shape is scaled into the model's bounds, with edges that are multiples of its step.
 */
export function nearestSize(
  wanted: Size,
  edges: { min: number; max: number },
  facts: ModelFacts["image"],
): Size {
  const shape = Math.log(wanted.width / wanted.height);
  const listed = facts?.sizes;
  if (listed?.length) {
    const off = ({ width, height }: Size) => Math.abs(Math.log(width / height) - shape);
    const area = (size: Size) => Math.abs(size.width * size.height - wanted.width * wanted.height);
    const [first] = [...listed].sort((a, b) => off(a) - off(b) || area(a) - area(b));
    if (first) return { width: first.width, height: first.height };
  }
  const step = facts?.multipleOf ?? 16;
  const least = Math.max(edges.min, facts?.minEdge ?? 0);
  const most = Math.min(edges.max, facts?.maxEdge ?? edges.max);
  const ratio = Math.min(
    Math.max(Math.exp(shape), 1 / (facts?.maxAspectRatio ?? 3)),
    facts?.maxAspectRatio ?? 3,
  );
  const [minPixels, maxPixels] = [facts?.minPixels ?? 0, facts?.maxPixels ?? Number.POSITIVE_INFINITY];
  const area = Math.min(Math.max(wanted.width * wanted.height, minPixels), maxPixels);
  const height = Math.sqrt(area / ratio);
  const long = Math.max(height, height * ratio);
  const short = Math.min(height, height * ratio);
  const scale = long > most ? most / long : short < least ? least / short : 1;
  const inside = (edge: number, round: (value: number) => number) =>
    Math.min(
      Math.max(round(edge / step) * step, Math.ceil(least / step) * step),
      Math.floor(most / step) * step,
    );
  const sized = (round: (value: number) => number): Size => ({
    width: inside(height * ratio * scale, round),
    height: inside(height * scale, round),
  });
  const isInside = ({ width, height }: Size) =>
    width * height >= minPixels &&
    width * height <= maxPixels &&
    Math.max(width, height) / Math.min(width, height) <= (facts?.maxAspectRatio ?? 3);
  // Rounded up, as sizes are elsewhere; rounded otherwise if that exceeds a bound.
  return [Math.ceil, Math.round, Math.floor].map(sized).find(isInside) ?? sized(Math.ceil);
}
