import { type SearchHit, search } from ".";
import { isActOutside, isMeaningless } from "./outside";

type Resolution = "supported" | "no_match_requestable" | "no_match_not_requestable";
export type Match = SearchHit & { confidence: number };

/** Below this score a word matches by chance. */
const LEAST_SCORE = 30;
/** A match with this score has a confidence of one half. */
const EVEN_SCORE = 20;
/** A match whose score is a smaller share of the best one is about another subject. */
const LEAST_SHARE = 0.4;
const MOST_MATCHES = 5;

/** Returns a confidence from 0 to 1 that rises with the score. A capability requested by its key has 1. */
const confidenceOf = (score: number) =>
  score === Number.MAX_SAFE_INTEGER ? 1 : Math.round((score / (score + EVEN_SCORE)) * 1000) / 1000;

/**
 * Resolves an intent to the capabilities that fit, best first; to none, which can be requested; or to none that
 * ever will be, because the intent means nothing or is an act that this service never does.
 */
export function resolveIntent(intent: string): { resolution: Resolution; hits: Match[] } {
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
