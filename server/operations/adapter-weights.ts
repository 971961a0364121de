import { artifactAnswer } from "@/server/api/answers/artifact";
import { raw } from "@/server/api/endpoint";
import { findWeights } from "@/server/domain/adapters";
import { operations } from "./define";

const open = operations("Adapters", { auth: ["anonymous", "service_principal", "human_session"] });

export const getAdapterWeights = open.get("/v1/adapter-weights/{weights_link}", {
  summary: "Download the weights of an uploaded adapter",
  description:
    "Called by providers. Each URL is signed, created when an execution is sent, given to its provider only, valid for one artifact, and expires when the execution ends. An invalid or expired URL returns 404.",
  output: raw("application/octet-stream"),
  partly: [206, 304],
  errors: ["PreconditionFailed", "RangeNotSatisfiable"],
  http: async (ctx, { weights_link, incoming }) => {
    const found = await findWeights(ctx, weights_link);
    const answer = await artifactAnswer(found, incoming, "weights.safetensors");
    const headers = {
      ...answer.headers,
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
    };
    return { ...answer, headers };
  },
});
