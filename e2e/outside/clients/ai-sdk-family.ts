import assert from "node:assert/strict";
import type { OpenAIProvider } from "@ai-sdk/openai";
import { embedMany, generateImage, experimental_generateSpeech as generateSpeech } from "ai";
import type { Row } from "../world";

/** Checks of the AI SDK's functions other than text. */
export function familyChecks(openai: OpenAIProvider): Row["checks"] {
  return {
    async embeddings() {
      const { embeddings, usage } = await embedMany({
        model: openai.embedding("text.embed.v1"),
        values: ["sunny day at the beach", "rainy afternoon in the city"],
      });
      assert.equal(embeddings.length, 2);
      assert.ok(embeddings.every((vector) => vector.length > 7 && vector.every(Number.isFinite)));
      assert.ok(usage.tokens > 0);
    },
    async images() {
      const { images } = await generateImage({
        model: openai.image("image.generate.v1"),
        prompt: "Santa Claus driving a Cadillac",
        size: "1024x1024",
      });
      assert.equal(images[0]?.mediaType, "image/png");
    },
    async speech() {
      const { audio } = await generateSpeech({
        model: openai.speech("audio.voice.generate.v1"),
        text: "Hello, world!",
        voice: "alloy",
      });
      assert.ok(audio.uint8Array.byteLength > 1_000);
    },
  };
}
