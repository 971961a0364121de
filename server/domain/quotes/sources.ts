import type { CallOptions, Capability, OutputFile, Source, SourceFile } from "@/server/capabilities/define";
import { readWhole } from "@/server/domain/artifacts";
import { artifactInput, type FoundArtifact, type InputReach } from "@/server/domain/inputs";
import { ValidationFault } from "@/server/platform/errors/errors";
import { toRequestFault } from "./faults";

/** Returns the artifacts that a parsed input names. */
export const inputSources = (capability: Capability, input: unknown): Source[] =>
  capability.execute.sources?.(input) ?? [];

type Found = { source: Source; row: FoundArtifact };

/**
 * Finds the artifacts that a parsed input names, within the reach of its request, without reading their
 * bytes. One that is missing, too large or of another media type is a 422 at its field.
 */
export async function findSources(
  reach: InputReach,
  capability: Capability,
  input: unknown,
): Promise<Found[]> {
  return Promise.all(
    inputSources(capability, input).map(async (source) => {
      const row = await artifactInput(reach, source.artifactId, source.field);
      const refuse = (msg: string): never => {
        throw new ValidationFault([{ loc: ["body", ...source.field], msg, type: "value_error" }]);
      };
      if (!source.mediaTypes.includes(row.media_type))
        refuse(`The artifact is ${row.media_type}. Use ${source.mediaTypes.join(", ")}.`);
      if (row.byte_length > source.maxBytes)
        refuse(`The artifact has ${row.byte_length} bytes, and at most ${source.maxBytes} are allowed.`);
      return { source, row };
    }),
  );
}

/** Reads the artifacts that a parsed input names, with their bytes. */
export async function readSources(
  reach: InputReach,
  capability: Capability,
  input: unknown,
): Promise<SourceFile[]> {
  const found = await findSources(reach, capability, input);
  return Promise.all(
    found.map(async ({ source, row }) => ({
      artifactId: source.artifactId,
      bytes: await readWhole(row.sha256),
      mediaType: row.media_type,
      filename: row.filename,
      sha256: row.sha256,
    })),
  );
}

/**
 * Prepares the data that a capability needs to build its call; undefined, without any reading, if it needs
 * none. Refusals of the capability become faults.
 */
export async function materialize(
  reach: InputReach,
  capability: Capability,
  { input, options, kept = [] }: { input: unknown; options: CallOptions; kept?: OutputFile[] | undefined },
): Promise<unknown> {
  const execution = capability.execute;
  if ("local" in execution || !execution.materialize) return undefined;
  const files = await readSources(reach, capability, input);
  try {
    return await execution.materialize(input, files, options, kept);
  } catch (cause) {
    throw toRequestFault(cause);
  }
}
