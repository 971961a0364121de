import MiniSearch from "minisearch";
import type { Capability } from "@/server/capabilities/define";
import { allCapabilities } from "../registry";
import { NEIGHBOURS } from "./neighbours";
import { respell } from "./respell";
import { searchWords, termsOf } from "./words";

const FIELDS = ["title", "key", "synonyms", "tags", "intents", "description"] as const;
/** The weight of each field: a capability's own names count for more than words that its description mentions. */
const BOOST = { title: 4, key: 2, synonyms: 4, tags: 2, intents: 3, description: 1 };

type Document = { id: string } & Record<(typeof FIELDS)[number], string>;

const toDocument = (capability: Capability): Document => ({
  id: capability.key,
  title: capability.title,
  key: capability.key.replace(/\.v\d+$/, "").replaceAll(/[._-]/g, " "),
  synonyms: capability.synonyms.join(" , "),
  tags: capability.taskTags.join(" , ").replaceAll("-", " "),
  intents: capability.intentExamples.join(" , "),
  description: capability.description,
});

/** Neighbours are indexed under names that no capability can have. */
const NEIGHBOUR = "beside the catalog: ";
const isNeighbour = (id: string) => id.startsWith(NEIGHBOUR);

function makeIndex() {
  const index = new MiniSearch<Document>({
    fields: [...FIELDS],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: { boost: BOOST, combineWith: "OR" },
  });
  index.addAll(allCapabilities.map(toDocument));
  index.addAll(
    NEIGHBOURS.map(({ name, words }) => ({
      id: `${NEIGHBOUR}${name}`,
      title: name,
      key: "",
      synonyms: words,
      tags: "",
      intents: "",
      description: "",
    })),
  );
  return index;
}

let index: MiniSearch<Document> | undefined;
const byKey = new Map(allCapabilities.map((capability) => [capability.key, capability]));

export type SearchHit = { capability: Capability; score: number };
type SearchResult = {
  /** The matches, best first. */
  hits: SearchHit[];
  /** The score of the best match that is outside the catalog; 0 if there is none. */
  besideScore: number;
};

/** Returns the capabilities whose key is this text, with or without its version. */
const named = (text: string) =>
  allCapabilities.filter(({ key }) => key === text || key.replace(/\.v\d+$/, "") === text);

/**
 * An expression such as "3.7 * 12.9" asks for a calculation by its signs. A date or "24/7" does not, because it has no
 * spaces around the sign.
 */
const EXPRESSION = /\d\s*[*+^×÷]\s*\(?\d|\d\s+[-−/]\s+\(?\d/u;

/**
 * Finds the capabilities that a text is about, and the best subject outside the catalog, scored by BM25 over
 * their words. A text that is a key finds only the capabilities with that key.
 */
export function search(text: string): SearchResult {
  const exact = named(text.trim().toLowerCase());
  if (exact.length > 0)
    return {
      hits: exact.map((capability) => ({ capability, score: Number.MAX_SAFE_INTEGER })),
      besideScore: 0,
    };
  index ??= makeIndex();
  const results = index.search(EXPRESSION.test(text) ? `${respell(text)} calculate` : respell(text));
  return {
    hits: results.flatMap(({ id, score }) => {
      const capability = byKey.get(id);
      return capability ? [{ capability, score }] : [];
    }),
    besideScore: results.find(({ id }) => isNeighbour(id))?.score ?? 0,
  };
}

/** True if the text has any word to search for. */
export const hasWords = (text: string) => searchWords(text).length > 0;
