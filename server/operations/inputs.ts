import { artifactAnswer, DOWNLOAD } from "@/server/api/artifact-answer";
import { endpoint } from "@/server/api/endpoint";
import {
  ArtifactRef,
  InProject,
  PayloadBody,
  StoredArtifact,
  StoredPayload,
  UploadQuery,
} from "@/server/contract/inputs-stored";
import * as inputs from "@/server/domain/inputs";

const tags = ["Stored inputs"];
const MEGABYTE = 1024 * 1024;

export const storePayload = endpoint({
  method: "POST",
  path: "/v1/payloads",
  summary: "Store an input",
  description:
    "The body is the input itself, any JSON object. Refer to it with `inputPayloadRef` when you run a capability. It is stored encrypted for seven days. `sha256` and `byteLength` describe its RFC 8785 form; a receipt of a run with this input has the same hash as `inputHash`.",
  tags,
  auth: ["service_principal"],
  scope: "capabilities:run",
  query: InProject,
  body: PayloadBody,
  bodyLimit: 32 * MEGABYTE,
  output: StoredPayload,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query, body }) => inputs.storePayload(ctx, body, query.projectId),
});

export const uploadArtifact = endpoint({
  method: "POST",
  path: "/v1/artifacts",
  summary: "Upload an artifact",
  description:
    "Send the bytes as the body with their Content-Type (and optionally a Content-Disposition or `filename`), or as the only file of a multipart/form-data body; at most 256 MiB. Use the returned id wherever an artifact id is accepted. The file is kept for the time given by `retentionRequirement`, 30 days by default.",
  tags,
  auth: ["service_principal"],
  scope: "capabilities:run",
  query: UploadQuery,
  rawBody: true,
  bodyLimit: inputs.MOST_UPLOAD_BYTES,
  output: StoredArtifact,
  errors: ["PROJECT_REQUIRED", "InvalidInput"],
  run: (ctx, { query, incoming }) =>
    inputs.storeArtifact(
      ctx,
      {
        contentType: incoming.header("content-type"),
        contentDisposition: incoming.header("content-disposition"),
        contentLength: incoming.header("content-length"),
        bytes: incoming.body,
      },
      query,
    ),
});

export const getArtifact = endpoint({
  method: "GET",
  path: "/v1/artifacts/{artifact_id}",
  summary: "Download an artifact",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: ArtifactRef,
  ...DOWNLOAD,
  errors: ["NotFound", "Gone", "RangeNotSatisfiable"],
  run: async (ctx, { params, incoming }) => {
    const found = await inputs.findArtifact(ctx, params.artifact_id);
    return artifactAnswer(found, incoming, found.filename ?? found.id);
  },
});
