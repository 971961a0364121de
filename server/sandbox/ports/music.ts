import { z } from "zod";
import { composeMusic } from "../audio/music";
import { recordTakes } from "../audio/takes";
import { definePort } from "./define";

const MusicRequest = z.object({
  model: z.string(),
  prompt: z.string().min(1).max(8_200),
  durationMs: z.int().min(3_000).max(300_000),
  count: z.int().min(1).max(4),
  instrumental: z.boolean(),
  container: z.enum(["ogg", "mp3"]),
});
type MusicRequest = z.output<typeof MusicRequest>;

async function answer({ model, prompt, durationMs, count, instrumental, container }: MusicRequest) {
  const answered = await recordTakes(model, count, container, (take) =>
    composeMusic({ prompt, durationMs, instrumental, take: `${model} ${take}` }),
  );
  return { ...answered, usage: { durationMs: durationMs * answered.takes.length } };
}

export const musicPort = definePort("music", MusicRequest, {
  answer,
  empty: () => ({
    takes: [],
    usage: { durationMs: 0 },
  }),
});
