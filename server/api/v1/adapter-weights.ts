import { endpoint, raw } from "@/server/api/endpoint";
import { WeightsRef } from "@/server/contract/adapters";
import { findWeights } from "@/server/domain/adapters";
import { artifactAnswer } from "./artifact-answer";

export const getAdapterWeights = endpoint({
  method: "GET",
  path: "/v1/adapter-weights/{weights_link}",
  summary: "Fetch the weights of an uploaded adapter, as a vendor does",
  description:
    "Addresses are made when an execution is sent and are known to its vendor alone: each is signed, names one artifact, and ends with the execution. Whatever is wrong with one is a 404.",
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
