import { z } from "zod";
import { FAMILIES } from "@/server/contract/model-families";
import { Count, CountsOf, figures } from "../counts";
import type { ModelFacts, PortAdapter, ProviderFile } from "../define";
import { parseReply, postJson, safeWord } from "../http";
import { explainSandboxError, MAX_FILES_BYTES, SANDBOX_MODELS, sandboxHeaders } from "./common";

const ImageReply = z.object({
  id: z.string(),
  model: z.string(),
  images: z.array(z.object({ mediaType: z.string(), base64: z.string() })),
  usage: CountsOf({ images: Count }),
});

/**
 * Models that misbehave about images: `partial` returns one fewer than requested, `garbled` returns unreadable files,
 * `gappy` returns sheets with a gap and a fragment.
 */
const IMAGE_MODELS: typeof SANDBOX_MODELS = [
  ...SANDBOX_MODELS,
  ...["partial", "garbled", "gappy"].map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    onlyByName: true as const,
  })),
];

export const sandboxImageModels = IMAGE_MODELS.map((model): ModelFacts => {
  const micros = model.id === "sandbox-2" ? 20_000 : 40_000;
  return {
    ...model,
    port: "image",
    price: {
      per: "image",
      sizes: [
        {
          width: 1024,
          height: 1024,
          micros: { low: micros / 4, medium: micros, high: micros * 4, standard: micros },
        },
      ],
    },
    supports: { transparency: true, referenceImages: true, edit: true, mask: true, adapters: true },
    families: FAMILIES.map(({ name }) => name),
    image: {
      minEdge: 256,
      maxEdge: 3840,
      multipleOf: 16,
      minPixels: 65_536,
      maxPixels: 8_294_400,
      maxAspectRatio: 3,
    },
  };
});

const toSent = ({ bytes, mediaType }: ProviderFile) => ({
  mediaType,
  base64: Buffer.from(bytes).toString("base64"),
});

export const sandboxImage: PortAdapter<"image"> = {
  api: "images",
  async submit(call, io) {
    const { source, mask, referenceImages, ...rest } = call;
    const body = {
      model: io.model.id,
      ...rest,
      referenceImages: referenceImages.map(toSent),
      ...(source ? { source: toSent(source) } : {}),
      ...(mask ? { mask: toSent(mask) } : {}),
    };
    const reply = await postJson(io, "/v1/image", {
      body,
      headers: sandboxHeaders(io),
      explain: explainSandboxError,
      maxResponseBytes: MAX_FILES_BYTES,
    });
    const { id, model, usage, images } = parseReply(ImageReply, reply, io);
    return {
      state: "done",
      result: {
        images: images.map(({ mediaType, base64 }) => ({
          mediaType,
          bytes: Buffer.from(base64, "base64"),
        })),
      },
      usage: usage ? figures(usage) : null,
      providerRequestId: safeWord(id, io),
      providerModel: safeWord(model, io),
      httpStatus: reply.status,
    };
  },
};
