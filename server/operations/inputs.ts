import { artifactAnswer, DOWNLOAD } from "@/server/api/answers/artifact";
import { textHeader } from "@/server/api/header-lines";
import { InProject } from "@/server/contract/common";
import { PayloadBody, StoredArtifact, StoredPayload, UploadQuery } from "@/server/contract/inputs-stored";
import * as inputs from "@/server/domain/inputs";
import { byKeys, byKeysAndEmbeds, operations } from "./define";

const run = operations("Stored inputs", byKeys("capabilities:run"));
const read = operations("Stored inputs", byKeysAndEmbeds("jobs:read"));

const MEGABYTE = 1024 * 1024;

export const storePayload = run.post("/v1/payloads", {
  summary: "Store an input",
  description:
    "The body is the input itself, any JSON object. Refer to it with `inputPayloadRef` when you run a capability. It is stored encrypted for seven days. `sha256` and `byteLength` describe its RFC 8785 form; a receipt of a run with this input has the same hash as `inputHash`.",
  query: InProject,
  body: PayloadBody,
  example: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  bodyLimit: 32 * MEGABYTE,
  output: StoredPayload,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query, body }) => inputs.storePayload(ctx, body, query.projectId),
});

export const uploadArtifact = run.post("/v1/artifacts", {
  summary: "Upload an artifact",
  description:
    "Send the bytes as the body with their Content-Type (and optionally a Content-Disposition or `filename`), or as the only file of a multipart/form-data body; at most 256 MiB. Use the returned id wherever an artifact id is accepted. The file is kept for the time given by `retentionRequirement`, 30 days by default.",
  query: UploadQuery,
  rawBody: true,
  bodyLimit: inputs.MOST_UPLOAD_BYTES,
  output: StoredArtifact,
  errors: ["PROJECT_REQUIRED", "InvalidInput"],
  http: (ctx, { query, incoming }) =>
    inputs.storeArtifact(
      ctx,
      {
        contentType: incoming.header("content-type"),
        contentDisposition: textHeader(incoming, "Content-Disposition"),
        contentLength: incoming.header("content-length"),
        bytes: incoming.body,
      },
      query,
    ),
});

export const getArtifact = read.get("/v1/artifacts/{artifact_id}", {
  summary: "Download an artifact",
  ...DOWNLOAD,
  errors: ["Gone", "PreconditionFailed", "RangeNotSatisfiable"],
  http: async (ctx, { artifact_id, incoming }) => {
    const found = await inputs.findArtifact(ctx, artifact_id);
    return artifactAnswer(found, incoming, found.filename ?? found.id);
  },
});
