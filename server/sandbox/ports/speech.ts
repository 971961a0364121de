import { z } from "zod";
import { speak } from "../audio/speech";
import { recordTakes } from "../audio/takes";
import { definePort } from "./define";

const Settings = z.object({
  stability: z.number().min(0).max(1).optional(),
  /** This and `useSpeakerBoost` change nothing, because there is no real voice to resemble. */
  similarityBoost: z.number().min(0).max(1).optional(),
  style: z.number().min(0).max(1).optional(),
  speed: z.number().min(0.25).max(4).optional(),
  useSpeakerBoost: z.boolean().optional(),
});
const SpeechRequest = z.object({
  model: z.string(),
  text: z.string().min(1).max(80_000),
  voiceId: z.string().min(1),
  count: z.int().min(1).max(4),
  seed: z.int().optional(),
  settings: Settings.optional(),
  diverse: z.boolean(),
  container: z.enum(["ogg", "mp3"]),
});
type SpeechRequest = z.output<typeof SpeechRequest>;

const charactersOf = ({ text }: SpeechRequest, takes: number) => ({ characters: [...text].length * takes });

async function answer(request: SpeechRequest): Promise<object> {
  const { model, text, voiceId, seed, settings, diverse, container, count } = request;
  const answered = await recordTakes(model, count, container, (take) =>
    speak({
      text,
      voiceId,
      speed: settings?.speed ?? 1,
      liveliness: 1 + (settings?.style ?? 0) - (settings?.stability ?? 0.5),
      // A seed without a request for diversity makes every take the same.
      take: `${model} ${seed ?? "none"} ${seed !== undefined && !diverse ? 0 : take}`,
    }),
  );
  return { ...answered, usage: charactersOf(request, answered.takes.length) };
}

export const speechPort = definePort("speech", SpeechRequest, {
  answer,
  empty: (request) => ({
    takes: [],
    usage: charactersOf(request, 0),
  }),
});
