import { z } from "zod";
import { Count, CountsOf } from "../counts";
import type { EmbeddingCall, EmbeddingResult, ModelFacts, PortAdapter, ProviderIo } from "../define";
import { requireDimensions, toVector, usedFor } from "../embedding";
import { parseAnswer, postJson } from "../http";
import { addUsages, inTurn } from "../takes";
import { explainGoogleError, googleHeaders, modelPath } from "./common";

/* Embeddings through batchEmbedContents, which accepts 100 texts per request. */

const AT_ONCE = 100;
const EmbeddingReply = z.object({
  embeddings: z.array(z.object({ values: z.array(z.number().nullable()) })),
  /** Only some models report a usage. */
  usageMetadata: CountsOf({ promptTokenCount: Count }),
});

export const googleEmbeddingModels: ModelFacts[] = [
  {
    id: "gemini-embedding-001",
    port: "embedding",
    title: "Gemini Embedding 001",
    price: { per: "million_tokens", input: 150_000, output: 0 },
    contextWindow: 2_048,
    // The vendor silently truncates longer texts. Four characters per token is the usual ratio.
    maxCharacters: 8_192,
    embedding: { dimensions: 3_072, leastDimensions: 128 },
    supports: {},
  },
];

async function embed(texts: string[], { dimensions }: EmbeddingCall, io: ProviderIo) {
  const requests = texts.map((text) => ({
    model: `models/${io.model.id}`,
    content: { role: "user", parts: [{ text }] },
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }));
  const options = { explain: explainGoogleError };
  const reply = await postJson(io, modelPath(io, "batchEmbedContents"), {
    body: { requests },
    headers: googleHeaders(io),
    ...options,
  });
  const { embeddings, usageMetadata } = parseAnswer(EmbeddingReply, reply, io, explainGoogleError);
  return {
    state: "done" as const,
    result: { vectors: embeddings.map(({ values }) => toVector(values)) },
    ...usedFor(usageMetadata?.promptTokenCount),
    providerRequestId: null,
    providerModel: null,
    httpStatus: reply.status,
  };
}

export const googleEmbedding: PortAdapter<"embedding"> = {
  api: "batch-embed-contents",
  async submit(call, io) {
    requireDimensions(call, io.model);
    let from = 0;
    const take = () => {
      const texts = call.texts.slice(from, from + AT_ONCE);
      from += AT_ONCE;
      return embed(texts, call, io);
    };
    const join = (results: EmbeddingResult[]) => ({ vectors: results.flatMap(({ vectors }) => vectors) });
    return inTurn(Math.ceil(call.texts.length / AT_ONCE), take, join, addUsages);
  },
};
