import { artifactAnswer } from "@/server/api/artifact-answer";
import { endpoint, raw } from "@/server/api/endpoint";
import { WeightsRef } from "@/server/contract/adapters";
import { findWeights } from "@/server/domain/adapters";

export const getAdapterWeights = endpoint({
  method: "GET",
  path: "/v1/adapter-weights/{weights_link}",
  summary: "Download the weights of an uploaded adapter",
  description:
    "Called by providers. Each URL is signed, created when an execution is sent, given to its provider only, valid for one artifact, and expires when the execution ends. An invalid or expired URL returns 404.",
  tags: ["Adapters"],
  auth: ["anonymous", "service_principal", "human_session"],
  params: WeightsRef,
  output: raw("application/octet-stream"),
  partly: [206, 304],
  errors: ["NotFound", "RangeNotSatisfiable"],
  run: async (ctx, { params, incoming }) => {
    const found = await findWeights(ctx, params.weights_link);
    const answer = await artifactAnswer(found, incoming, "weights.safetensors");
    const headers = {
      ...answer.headers,
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
    };
    return { ...answer, headers };
  },
});
