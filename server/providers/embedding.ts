import { z } from "zod";
import { Count, CountsOf, figures } from "./counts";
import {
  type EmbeddingCall,
  type ModelFacts,
  NOTHING_WRITTEN,
  type PortAdapter,
  type Progress,
  type ProviderIo,
  refuseCall,
  takesDimensions,
} from "./define";
import { type HttpOptions, parseAnswer, postJson, safeWord } from "./http";

/* Embeddings in OpenAI's format, which many other servers use too. */

/** A vector as numbers, or as base64 of little-endian 32-bit floats. Null is JSON's spelling of NaN. */
const Vector = z.union([z.array(z.number().nullable()), z.string()]);
const EmbeddingReply = z.object({
  model: z.string().nullish(),
  data: z.array(z.object({ index: z.number().nullish(), embedding: Vector })),
  usage: CountsOf({ prompt_tokens: Count, input_tokens: Count, total_tokens: Count }),
});

type Done = Extract<Progress<unknown>, { state: "done" }>;

/** Room for 2,048 vectors of 4,096 numbers, as text. */
const MAX_BYTES = 192 * 1024 * 1024;

export function toVector(given: z.output<typeof Vector>): Float32Array {
  if (typeof given !== "string") return Float32Array.from(given, (number) => number ?? Number.NaN);
  const bytes = Buffer.from(given, "base64");
  const vector = new Float32Array(Math.floor(bytes.byteLength / 4));
  for (let place = 0; place < vector.length; place++) vector[place] = bytes.readFloatLE(place * 4);
  return vector;
}

/** Refuses a length that the model cannot make. */
export function requireDimensions({ dimensions }: EmbeddingCall, model: ModelFacts): void {
  if (!takesDimensions(dimensions, model))
    refuseCall(`${model.id} does not support ${dimensions} dimensions.`);
}

/** The embedding port of a server with an `/embeddings` endpoint. `encoding` requests shorter answers, as base64. */
export function embeddings(options: {
  explain: NonNullable<HttpOptions["explain"]>;
  headers(io: ProviderIo): Record<string, string>;
  encoding?: "base64";
}): PortAdapter<"embedding"> {
  const { explain, headers, encoding } = options;
  return {
    api: "embeddings",
    async submit(call, io) {
      requireDimensions(call, io.model);
      const body = {
        model: io.model.id,
        input: call.texts,
        ...(call.dimensions === undefined ? {} : { dimensions: call.dimensions }),
        ...(encoding ? { encoding_format: encoding } : {}),
      };
      const reply = await postJson(io, "/embeddings", {
        body,
        headers: headers(io),
        explain,
        maxResponseBytes: MAX_BYTES,
      });
      const { data, model, usage } = parseAnswer(EmbeddingReply, reply, io, explain);
      const inOrder = data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
      return {
        state: "done",
        result: { vectors: inOrder.map(({ embedding }) => toVector(embedding)) },
        ...usedFor(usage?.prompt_tokens || usage?.input_tokens || usage?.total_tokens),
        providerRequestId: safeWord(reply.header("x-request-id"), io),
        providerModel: safeWord(model, io),
        httpStatus: reply.status,
      };
    },
  };
}

/**
 * The usage of an embedding. Without a report it is null, and the empty `delivered` lets the cost be estimated from the
 * input.
 */
export function usedFor(inputTokens: number | null | undefined): Pick<Done, "usage" | "delivered"> {
  const usage = embeddingUsage(inputTokens);
  return usage ? { usage } : { usage, delivered: NOTHING_WRITTEN };
}

/** Usage of an embedding: only input counts. A reported 0 counts as no report, because texts are never empty. */
export function embeddingUsage(inputTokens: number | null | undefined) {
  const known = figures({ inputTokens });
  return known.inputTokens ? { ...known, outputTokens: 0 } : null;
}
