import type { z } from "zod";
import { EmbedInput, EmbedOutput, MOST_CHARACTERS, MOST_TEXTS } from "@/server/contract/embeddings";
import { takesDimensions } from "@/server/providers/define";
import { BY_MODEL, CapabilityFault, defineCapability, durable, InputFault, inCharacters } from "./define";

/** Limit for numbers as JSON, which take several times the size of base64. */
const MOST_NUMBERS = 1_000_000;

const toBase64 = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

export default defineCapability<EmbedInput, z.output<typeof EmbedOutput>>({
  key: "text.embed.v1",
  title: "Text embedding",
  description:
    "Turns each text into a vector of numbers, so that texts with similar meaning are near each other: for search, grouping and comparison. Vectors of different models cannot be compared, so choose one model and keep using it.",
  modality: "embedding",
  family: "text",
  category: "analysis",
  modes: ["invoke_sync", "job_async"],
  input: EmbedInput,
  output: EmbedOutput,
  inputConstraints: {
    texts: inCharacters(MOST_CHARACTERS),
  },
  features: {
    syncInvoke: { supported: true, targetMaxDurationSeconds: 60 },
    maxTexts: MOST_TEXTS,
    dimensions: true,
    encodings: ["float", "base64"],
    ...BY_MODEL,
  },
  inputMediaTypes: ["text/plain"],
  outputKind: "structured",
  outputMediaType: "application/json",
  intentExamples: [
    "Embed these paragraphs for semantic search",
    "Turn product names into vectors",
    "Compute embeddings of support tickets to group them",
  ],
  synonyms: [
    "embedding",
    "embeddings",
    "embed",
    "vector",
    "vectorize",
    "semantic search",
    "rag",
    "retrieval",
  ],
  taskTags: ["embedding", "vectors", "semantic-search", "retrieval"],
  trialEligible: true,
  readySummary: "One vector for each text.",
  sync: { seconds: 60 },
  durable: durable(120),
  examples: [
    { title: "Two sentences", input: { texts: ["The river is deep.", "How deep is the water?"] } },
    {
      title: "Short vectors, as base64",
      input: { texts: ["A lighthouse at dawn"], dimensions: 256, encoding: "base64" },
    },
  ],
  execute: {
    port: "embedding",
    accepts: ({ dimensions }, model) => takesDimensions(dimensions, model),
    call({ texts, dimensions, encoding }, _options, { embedding }) {
      const numbers = texts.length * (dimensions ?? embedding?.dimensions ?? 0);
      if (encoding === "float" && numbers > MOST_NUMBERS)
        throw new InputFault(
          ["input", "encoding"],
          `The answer would have ${numbers} numbers, and at most ${MOST_NUMBERS} are allowed. Request base64, fewer texts or fewer dimensions.`,
        );
      return { texts, ...(dimensions === undefined ? {} : { dimensions }) };
    },
    result({ vectors }, { texts, dimensions, encoding }) {
      const [first] = vectors;
      if (!first || vectors.length !== texts.length)
        throw new CapabilityFault(
          "PROVIDER_EMPTY_OUTPUT",
          `The provider returned ${vectors.length} vectors for ${texts.length} texts.`,
        );
      const length = dimensions ?? first.length;
      if (
        length === 0 ||
        vectors.some((vector) => vector.length !== length || !vector.every(Number.isFinite))
      )
        throw new CapabilityFault(
          "PROVIDER_ERROR",
          `The provider's vectors do not all have ${length} numbers.`,
        );
      const encoded = vectors.map((vector) => (encoding === "base64" ? toBase64(vector) : [...vector]));
      return { typedOutput: { vectors: encoded, dimensions: length, encoding }, files: [] };
    },
    bounds: () => ({ outputTokens: 0 }),
  },
});
