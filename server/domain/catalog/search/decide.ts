import { type Hit, search } from ".";
import { isActOutside, isMeaningless } from "./outside";

export type Resolution = "supported" | "no_match_requestable" | "no_match_not_requestable";
export type Match = Hit & { confidence: number };

/** Below this a word fits by chance. */
const LEAST_SCORE = 30;
/** The score at which a match is as likely as not. */
const EVEN_SCORE = 20;
/** Matches far behind the best are other subjects. */
const LEAST_SHARE = 0.4;
const MOST_MATCHES = 5;

/** 0 to 1, rising with the score; 1 for a capability requested by its name. */
const confidenceOf = (score: number) =>
  score === Number.MAX_SAFE_INTEGER ? 1 : Math.round((score / (score + EVEN_SCORE)) * 1000) / 1000;

/**
 * What an intent resolves to: capabilities that fit, best first; or none, which may be requested; or none that ever will be,
 * because nothing is meant or because it is an act this service does for no one.
 */
export function resolutionOf(intent: string): { resolution: Resolution; hits: Match[] } {
  if (isMeaningless(intent) || isActOutside(intent))
    return { resolution: "no_match_not_requestable", hits: [] };
  const { hits, besideScore } = search(intent);
  const best = hits[0]?.score ?? 0;
  if (best < LEAST_SCORE || besideScore > best) return { resolution: "no_match_requestable", hits: [] };
  return {
    resolution: "supported",
    hits: hits
      .filter(({ score }) => score >= Math.max(LEAST_SCORE, best * LEAST_SHARE))
      .slice(0, MOST_MATCHES)
      .map((hit) => ({ ...hit, confidence: confidenceOf(hit.score) })),
  };
}
