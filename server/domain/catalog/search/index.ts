import MiniSearch from "minisearch";
import type { Capability } from "@/server/capabilities/define";
import { allCapabilities } from "../registry";
import { NEIGHBOURS } from "./neighbours";
import { respell } from "./respell";
import { termsOf, wordsOf } from "./words";

const FIELDS = ["title", "key", "synonyms", "tags", "intents", "description"] as const;
/** What a field's word is worth: what a capability calls itself says more than what its description mentions. */
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

/** Neighbours are in the index under names no capability can have. */
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

export type Hit = { capability: Capability; score: number };
export type Found = {
  /** Best first. */
  hits: Hit[];
  /** How well something fits that no capability does; 0: nothing of the kind. */
  besideScore: number;
};

/** A whole key, or the beginning of one, is asked for by name. */
const named = (text: string) =>
  allCapabilities.filter(({ key }) => key === text || key.replace(/\.v\d+$/, "") === text);

/** "3.7 * 12.9" says in signs that it is to be calculated. A date or "24/7" does not: those have no spaces. */
const EXPRESSION = /\d\s*[*+^×÷]\s*\(?\d|\d\s+[-−/]\s+\(?\d/u;

/** What a text is about: capabilities by how well they fit (BM25 over their words), and what lies beside them. */
export function search(text: string): Found {
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

/** Is there anything in it to search for? */
export const hasWords = (text: string) => wordsOf(text).length > 0;
