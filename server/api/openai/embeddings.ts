import { EmbedOutput } from "@/server/contract/embeddings";
import type { InvocationResult } from "@/server/contract/jobs";
import type { EmbeddingList, EmbeddingsRequest } from "@/server/contract/openai-media";
import { type Fields, MODEL_FIELDS } from "./fields";
import { responseHead, tokensOf } from "./result";

/* POST /v1/embeddings: converts its request to an input of text.embed.v1, and an execution to its response. */

export const embeddingFields = ({ input }: EmbeddingsRequest): Fields => ({
  ...MODEL_FIELDS,
  "input.texts": "input",
  // A single text counts as a list of one text.
  ...(typeof input === "string" ? { "input.texts.0": "input", "input.texts[0]": "input" } : {}),
  "input.dimensions": "dimensions",
});

/** Vectors are always base64 internally: the encoding does not change the execution, and base64 is the smallest. */
export const toInput = ({ input, dimensions }: EmbeddingsRequest) => ({
  texts: typeof input === "string" ? [input] : input,
  ...(dimensions ? { dimensions } : {}),
  encoding: "base64",
});

export function toEmbeddingList(request: EmbeddingsRequest, result: InvocationResult): EmbeddingList {
  const { vectors } = EmbedOutput.parse(result.typedOutput);
  const asText = request.encoding_format === "base64";
  const tokens = tokensOf(result.usage);
  return {
    object: "list",
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: asText || typeof vector !== "string" ? vector : toNumbers(vector),
    })),
    model: responseHead(result).model,
    ...(tokens ? { usage: { prompt_tokens: tokens.input, total_tokens: tokens.input } } : {}),
  };
}

function toNumbers(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.byteLength / 4 }, (_, place) => bytes.readFloatLE(place * 4));
}
