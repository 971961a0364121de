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

/* Embeddings as OpenAI has them, and many servers after it. */

/** A vector as numbers, or as the base64 of its numbers: 32-bit floats, the least byte first. Null is what JSON makes of NaN. */
const Vector = z.union([z.array(z.number().nullable()), z.string()]);
const EmbeddingReply = z.object({
  model: z.string().nullish(),
  data: z.array(z.object({ index: z.number().nullish(), embedding: Vector })),
  usage: CountsOf({ prompt_tokens: Count, input_tokens: Count, total_tokens: Count }),
});

type Done = Extract<Progress<unknown>, { state: "done" }>;

/** 2,048 vectors of 4,096 numbers, as text. */
const MAX_BYTES = 192 * 1024 * 1024;

export function toVector(given: z.output<typeof Vector>): Float32Array {
  if (typeof given !== "string") return Float32Array.from(given, (number) => number ?? Number.NaN);
  const bytes = Buffer.from(given, "base64");
  const vector = new Float32Array(Math.floor(bytes.byteLength / 4));
  for (let place = 0; place < vector.length; place++) vector[place] = bytes.readFloatLE(place * 4);
  return vector;
}

/** Refuses lengths that the model does not make. */
export function requireDimensions({ dimensions }: EmbeddingCall, model: ModelFacts): void {
  if (!takesDimensions(dimensions, model))
    refuseCall(`${model.id} does not support ${dimensions} dimensions.`);
}

/** The embedding port of a server that speaks `/embeddings`. With `encoding` its vectors come shorter, as base64. */
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

/** The usage of vectors as a progress has it: one that is not reported is estimated by what was read. */
export function usedFor(inputTokens: number | null | undefined): Pick<Done, "usage" | "delivered"> {
  const usage = usageOf(inputTokens);
  return usage ? { usage } : { usage, delivered: NOTHING_WRITTEN };
}

/** Vectors have no tokens: what is counted is what was read. No text is read as nothing, so that 0 is no report. */
export function usageOf(inputTokens: number | null | undefined) {
  const known = figures({ inputTokens });
  return known.inputTokens ? { ...known, outputTokens: 0 } : null;
}
