import { z } from "zod";
import { randomFrom } from "../random";
import { definePort } from "./define";

const EmbeddingRequest = z.object({
  model: z.string(),
  texts: z.array(z.string().min(1)).min(1).max(2_048),
  dimensions: z.int().min(8).max(512),
});
type EmbeddingRequest = z.output<typeof EmbeddingRequest>;

/**
 * Adds up the directions of a text's words and scales the sum to length 1, so that texts that share words are near each other.
 */
function embed(model: string, text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words.slice(0, 2_048)) {
    const random = randomFrom(`${model} ${word}`);
    for (let place = 0; place < dimensions; place++) vector[place] = (vector[place] ?? 0) + random() - 0.5;
  }
  const length = Math.sqrt(vector.reduce((sum, each) => sum + each * each, 0)) || 1;
  return vector.map((each) => each / length);
}

const tokensOf = ({ texts }: EmbeddingRequest) =>
  texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);

async function answer(request: EmbeddingRequest): Promise<object> {
  const { model, texts, dimensions } = request;
  const vectors = texts.map((text) => {
    const { buffer } = embed(model, text, dimensions);
    return Buffer.from(buffer).toString("base64");
  });
  return { vectors, usage: { inputTokens: tokensOf(request) } };
}

export const embeddingPort = definePort("embedding", EmbeddingRequest, {
  answer,
  empty: (request) => ({
    vectors: [],
    usage: { inputTokens: tokensOf(request) },
  }),
});
