import { z } from "zod";
import { Count, CountsOf } from "../counts";
import type { ModelFacts, PortAdapter } from "../define";
import { embeddingUsage, requireDimensions, toVector } from "../embedding";
import { parseReply, postJson, safeWord } from "../http";
import { explainSandboxError, MAX_FILES_BYTES, SANDBOX_MODELS, sandboxHeaders } from "./common";

/* Embeddings: texts that share words are close to each other. */

const EmbeddingReply = z.object({
  id: z.string(),
  model: z.string(),
  vectors: z.array(z.string()),
  usage: CountsOf({ inputTokens: Count }),
});

export const sandboxEmbeddingModels = SANDBOX_MODELS.map(
  (model): ModelFacts => ({
    ...model,
    port: "embedding",
    price: { per: "million_tokens", input: model.id === "sandbox-2" ? 100_000 : 20_000, output: 0 },
    contextWindow: 8_192,
    maxCharacters: 49_152,
    embedding: { dimensions: 512, leastDimensions: 8 },
    supports: {},
  }),
);

export const sandboxEmbedding: PortAdapter<"embedding"> = {
  api: "embeddings",
  async submit(call, io) {
    requireDimensions(call, io.model);
    const sent = { model: io.model.id, dimensions: io.model.embedding?.dimensions, ...call };
    const options = { explain: explainSandboxError, maxResponseBytes: MAX_FILES_BYTES };
    const reply = await postJson(io, "/v1/embedding", {
      body: sent,
      headers: sandboxHeaders(io),
      ...options,
    });
    const { id, model, vectors, usage } = parseReply(EmbeddingReply, reply, io);
    return {
      state: "done",
      result: { vectors: vectors.map(toVector) },
      usage: embeddingUsage(usage?.inputTokens),
      providerRequestId: safeWord(id, io),
      providerModel: safeWord(model, io),
      httpStatus: reply.status,
    };
  },
};
