import { z } from "zod";
import { DateTime, InProject, JsonObject } from "./common";
import { RetentionRequirement } from "./envelope";

export const PayloadBody = JsonObject.meta({
  id: "PayloadBody",
  description: "The input itself, as the `inputSchema` of the capability it is for describes it.",
});

export const StoredPayload = z
  .object({
    payloadId: z.string(),
    sha256: z.string().describe("SHA-256 of the payload in its RFC 8785 form."),
    byteLength: z.int().describe("Length of that form."),
    expiresAt: DateTime,
  })
  .meta({ id: "StoredPayload" });
export type StoredPayload = z.output<typeof StoredPayload>;

export const UploadQuery = InProject.extend({
  filename: z.string().min(1).max(255).optional(),
  retentionRequirement: RetentionRequirement.optional(),
});
export type UploadQuery = z.output<typeof UploadQuery>;

/** An uploaded artifact, in the form of the references in a job's `artifacts`. */
export const StoredArtifact = z
  .object({
    artifactId: z.string(),
    mediaType: z.string(),
    kind: z.literal("input"),
    downloadPath: z.string(),
    sha256: z.string(),
    byteLength: z.int(),
    filename: z.string().nullable(),
    projectId: z.string(),
    createdAt: DateTime,
    expiresAt: DateTime.nullable(),
  })
  .meta({ id: "StoredArtifact" });
export type StoredArtifact = z.output<typeof StoredArtifact>;
