import type { ModelFacts } from "../define";
import { embeddings } from "../embedding";
import { explainOpenAiError, openAiHeaders } from "./common";

/*
 * Embeddings. The vendor accepts at most 8,192 tokens a text; a text of more than 49,152 characters, six for each
 * token, is refused before it is sent.
 */

const MOST_CHARACTERS = 49_152;

export const openAiEmbeddingModels = [
  {
    id: "text-embedding-3-small",
    title: "Text Embedding 3 small",
    micros: 20_000,
    dimensions: 1_536,
    least: 1,
  },
  {
    id: "text-embedding-3-large",
    title: "Text Embedding 3 large",
    micros: 130_000,
    dimensions: 3_072,
    least: 1,
  },
  { id: "text-embedding-ada-002", title: "Text Embedding Ada 002", micros: 100_000, dimensions: 1_536 },
].map(
  ({ id, title, micros, dimensions, least }): ModelFacts => ({
    id,
    port: "embedding",
    title,
    price: { per: "million_tokens", input: micros, output: 0 },
    contextWindow: 8_192,
    maxCharacters: MOST_CHARACTERS,
    embedding: { dimensions, ...(least === undefined ? {} : { leastDimensions: least }) },
    supports: {},
  }),
);

export const openAiEmbedding = embeddings({
  explain: explainOpenAiError,
  headers: openAiHeaders,
  encoding: "base64",
});
