import { z } from "zod";
import { DateTime, pageLimit } from "./common";

export const ListReferences = z.object({ limit: pageLimit(200, 50), cursor: z.string().max(64).optional() });
export type ListReferences = z.output<typeof ListReferences>;

/** A file of a project that an input can name. */
export const Reference = z
  .object({
    artifactId: z.string(),
    /** `upload`: uploaded by a caller. `output`: the selected output of a job. */
    source: z.enum(["upload", "output"]),
    mediaType: z.string(),
    kind: z.string(),
    sha256: z.string(),
    byteLength: z.int(),
    filename: z.string().nullable(),
    label: z.string().nullable(),
    jobId: z.string().nullable(),
    capabilityKey: z.string().nullable(),
    variantIndex: z.int().nullable(),
    selected: z.boolean(),
    downloadPath: z.string(),
    createdAt: DateTime,
  })
  .meta({ id: "Reference" });
export type Reference = z.output<typeof Reference>;

export const ReferencePage = z
  .object({ items: z.array(Reference), nextCursor: z.string().optional() })
  .meta({ id: "ReferencePage" });
export type ReferencePage = z.output<typeof ReferencePage>;
