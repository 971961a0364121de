import { z } from "zod";
import { makeSound } from "../audio/sound";
import { recordTakes } from "../audio/takes";
import { definePort } from "./define";

const SoundRequest = z.object({
  model: z.string(),
  prompt: z.string().min(1).max(900),
  durationMs: z.int().min(100).max(22_000),
  count: z.int().min(1).max(4),
  promptInfluence: z.number().min(0).max(1).optional(),
  diverse: z.boolean(),
  container: z.enum(["ogg", "mp3"]),
});
type SoundRequest = z.output<typeof SoundRequest>;

async function answer({ model, prompt, durationMs, count, promptInfluence, container }: SoundRequest) {
  const answered = await recordTakes(model, count, container, (take) =>
    makeSound({ prompt, durationMs, take: `${model} ${promptInfluence ?? "none"} ${take}` }),
  );
  return { ...answered, usage: { durationMs: durationMs * answered.takes.length } };
}

export const soundPort = definePort("sound", SoundRequest, {
  answer,
  empty: () => ({
    takes: [],
    usage: { durationMs: 0 },
  }),
});
