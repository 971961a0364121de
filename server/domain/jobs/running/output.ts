import type { OutputFile } from "@/server/capabilities/define";
import { keepContents, readWhole } from "@/server/domain/artifacts";
import { toContentRow } from "@/server/domain/content";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { canonicalText } from "@/server/platform/text/canonical";
import { type ArtifactRow, artifactsOf, expiryOf, isSealedOf, type JobRow, UNPROCESSED } from "../rows";
import type { AnswerArtifact, StoredAnswer } from "../transitions/answer";
import type { NewEvent } from "../transitions/moves";

/** Puts files into the store and assigns their ids; the rows that list them are written with the answer. */
export async function storeFiles(
  job: Pick<JobRow, "retention_requirement" | "content_kept_ms">,
  files: OutputFile[],
  now: Date,
): Promise<AnswerArtifact[]> {
  const expires_at = expiryOf(job, now);
  const stored = await keepContents(files.map(({ bytes }) => bytes));
  return stored.map(({ sha256, byteLength }, place) => {
    const file = files[place]!;
    return {
      artifact_id: newId("artifact"),
      media_type: file.mediaType,
      sha256,
      byte_length: byteLength,
      filename: file.filename,
      kind: file.kind,
      label: file.label ?? null,
      variant_index: file.variantIndex ?? null,
      slice_cell_id: file.sliceCellId ?? null,
      slot_status: file.slotStatus ?? null,
      facts: file.facts ?? null,
      expires_at,
    };
  });
}

/** The provider's files that `storeFiles` stored before their processing, in their order. */
export async function readUnprocessedFiles(job: Pick<JobRow, "id" | "project_id">): Promise<OutputFile[]> {
  const kept = (await artifactsOf(job)).filter((row) => row.slot_status === UNPROCESSED);
  return Promise.all(
    kept.map(async (row) => ({
      bytes: await readWhole(row.sha256),
      mediaType: row.media_type,
      kind: row.kind,
      filename: row.filename ?? row.artifact_id,
      ...(row.variant_index === null ? {} : { variantIndex: row.variant_index }),
      ...(row.facts === null ? {} : { facts: row.facts }),
    })),
  );
}

/** The typed output as text to store. It lists the files, if the capability produces any. */
export function toOutput(
  job: Pick<JobRow, "id" | "data_classification" | "retention_requirement" | "content_kept_ms">,
  typedOutput: unknown,
  artifacts: (AnswerArtifact | ArtifactRow)[],
  now: Date,
): NonNullable<StoredAnswer["output"]> {
  const listed = artifacts.map((artifact) => ({
    artifactId: artifact.artifact_id,
    downloadPath: `/v1/jobs/${job.id}/artifacts/${artifact.artifact_id}`,
    mediaType: artifact.media_type,
    kind: artifact.kind,
    ...artifact.facts,
    ...(artifact.variant_index === null ? {} : { variantIndex: artifact.variant_index }),
    ...(artifact.slice_cell_id === null ? {} : { sliceCellId: artifact.slice_cell_id }),
    ...(artifact.label === null ? {} : { label: artifact.label }),
  }));
  const whole = listed.length > 0 ? { ...(typedOutput as object), artifacts: listed } : typedOutput;
  const content = canonicalText(whole as Json); // parsed by the capability's output schema
  return { kind: "output", ...toContentRow(content, isSealedOf(job), expiryOf(job, now)) };
}

export function storedEvents(artifacts: AnswerArtifact[]): NewEvent[] {
  return artifacts.map((artifact) => ({
    type: "job.artifact_stored",
    payload: {
      artifactId: artifact.artifact_id,
      mediaType: artifact.media_type,
      sha256: artifact.sha256,
      byteLength: artifact.byte_length,
      variantIndex: artifact.variant_index,
      ...(artifact.slice_cell_id === null ? {} : { sliceCellId: artifact.slice_cell_id }),
    },
  }));
}
