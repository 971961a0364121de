import { z } from "zod";
import { readAudio } from "@/server/compute/audio/read";
import type { AudioResult } from "@/server/providers/define";
import {
  type CapabilityDefinition,
  CapabilityFault,
  durable,
  type OutputFile,
  type RunOutcome,
} from "../define";

/* The output that audio capabilities share: each take becomes a file with its measured length. */

const AudioArtifact = z.object({
  artifactId: z.string(),
  mediaType: z.string(),
  durationMs: z.int(),
  variantIndex: z.int(),
  kind: z.string(),
  downloadPath: z.string(),
});
export const AudioOutput = z.object({
  artifacts: z.array(AudioArtifact).describe("One per take. The length is measured in the file."),
});
export type AudioOutput = z.output<typeof AudioOutput>;

/** Facts that all audio capabilities share. */
export const AUDIO = {
  modality: "audio",
  family: "audio",
  category: "generation",
  modes: ["job_async"],
  output: AudioOutput,
  inputMediaTypes: ["text/plain"],
  outputKind: "artifact",
  durable: durable(300, 900),
} satisfies Partial<CapabilityDefinition<never, AudioOutput>>;

const ENDINGS = { "audio/ogg": "ogg", "audio/mpeg": "mp3" } as const;

/**
 * Turns takes into files. Type and length come from the bytes, not from the provider's answer. A take that is not Ogg
 * or MP3, or is damaged, counts as failed; throws if all failed.
 */
export function toAudioFiles({ takes }: AudioResult, name: string, count: number): RunOutcome<AudioOutput> {
  const sent = takes.slice(0, count).filter(({ bytes }) => bytes.byteLength > 0);
  if (sent.length === 0)
    throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider's answer contains no audio.");
  const files = sent.flatMap(({ bytes }): Omit<OutputFile, "filename">[] => {
    const facts = readAudio(bytes);
    if (!facts) return [];
    const { mediaType, durationMs } = facts;
    return [{ bytes, mediaType, kind: "audio", facts: { durationMs } }];
  });
  if (files.length === 0) {
    throw new CapabilityFault("PROVIDER_ERROR", "The provider's file is not a playable Ogg or MP3 file.");
  }
  return {
    typedOutput: { artifacts: [] }, // filled in when the files are stored
    files: files.map((file, variantIndex) => ({
      ...file,
      filename: `${name}-${variantIndex + 1}.${ENDINGS[file.mediaType as keyof typeof ENDINGS]}`, // readAudio returns only these types
      variantIndex,
    })),
  };
}
