import { z } from "zod";
import { readAudio } from "@/server/compute/audio/read";
import type { AudioResult } from "@/server/providers/define";
import {
  type CapabilityDefinition,
  CapabilityFault,
  durable,
  type Outcome,
  type OutputFile,
} from "../define";

/* What every capability that yields sound shares: its takes become files, each named for what it is. */

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

/** What all capabilities that yield sound say of themselves. */
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
 * The takes that are whole files of sound, measured and identified by their own bytes, whatever the provider calls them. One that
 * is no Ogg or MP3, or is damaged, counts as failed.
 */
export function toAudioFiles({ takes }: AudioResult, name: string, count: number): Outcome<AudioOutput> {
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
    typedOutput: { artifacts: [] }, // listed when the files are kept
    files: files.map((file, variantIndex) => ({
      ...file,
      filename: `${name}-${variantIndex + 1}.${ENDINGS[file.mediaType as keyof typeof ENDINGS]}`, // of AudioFacts
      variantIndex,
    })),
  };
}
