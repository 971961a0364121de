import { type Maturity, MaturityRating } from "@/server/contract/envelope";
import type { Json } from "@/server/platform/durable/step";
import type { Envelope } from "./normalize";

type Said = Pick<Envelope<"jobs">, "matureContentTraits"> &
  Partial<Pick<Envelope<"jobs">, "maturityRating" | "maturitySource">>;

/**
 * Returns what a request's content may show, as the caller or else the project's settings state it. Returns
 * null if neither states anything; then every route may be chosen.
 */
export function maturityOf(said: Said, settings: Record<string, Json>): Maturity | null {
  const { maturityRating, matureContentTraits: traits, maturitySource } = said;
  const { maturityRating: kept } = settings;
  const standard = kept === undefined ? undefined : MaturityRating.safeParse(kept).data;
  const isSaid = Boolean(maturityRating) || traits.length > 0;
  if (!isSaid && !standard) return maturitySource ? { rating: null, traits, source: maturitySource } : null;
  return {
    rating: maturityRating ?? standard ?? null,
    traits,
    source: maturitySource ?? (isSaid ? "explicit_invocation" : "project_default"),
  };
}
