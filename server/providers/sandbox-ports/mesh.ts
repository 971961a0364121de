import { z } from "zod";
import { Count, CountsOf, figures } from "../counts";
import type { ModelFacts, PortAdapter, ProviderFile } from "../define";
import { SANDBOX_MODELS } from "./common";
import { pollWork, submitWork } from "./work";

const MeshReply = z.object({
  mesh: z.object({ mediaType: z.string(), base64: z.string() }),
  usage: CountsOf({ meshes: Count }),
});

export const meshModels = SANDBOX_MODELS.map((model): ModelFacts => {
  const micros = model.id === "sandbox-2" ? 10_000 : 20_000;
  return {
    ...model,
    port: "mesh",
    price: { per: "mesh", micros, texturedMicros: (micros * 3) / 2 },
    supports: { textureByBoth: true },
  };
});

const toBase64 = ({ bytes, mediaType }: ProviderFile) => ({
  mediaType,
  base64: Buffer.from(bytes).toString("base64"),
});

export const sandboxMesh: PortAdapter<"mesh"> = {
  api: "meshes",
  submit({ images, profile, texture }, io) {
    const { image, ...words } = texture ?? {};
    const body = {
      images: images.map(toBase64),
      profile,
      texture: texture && { ...words, ...(image ? { image: toBase64(image) } : {}) },
    };
    return submitWork("/v1/mesh", body, io);
  },
  poll: (handle, io) =>
    pollWork(handle, io, MeshReply, ({ mesh: { mediaType, base64 }, usage }) => ({
      result: { mesh: { mediaType, bytes: Buffer.from(base64, "base64") } },
      usage: usage ? figures(usage) : null,
    })),
};
