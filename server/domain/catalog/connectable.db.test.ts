import { expect, test } from "vitest";
import { getCapability, needsOf } from ".";
import { connectableProviders } from "./connectable";

/* An account unlocks what its models can do, not every port that its provider serves. */

const unlockedBy = (name: string) =>
  connectableProviders()
    .find((provider) => provider.name === name)
    ?.unlocks.map(({ key }) => key) ?? [];

const VISION = "text.vision.structured.v1";

test("an account unlocks vision if one of its models reads pictures", () => {
  expect(unlockedBy("openai")).toContain(VISION);
  expect(unlockedBy("deepseek")).toContain("text.general.fast.v1");
  expect(unlockedBy("deepseek")).not.toContain(VISION);
});

test("an own server unlocks only what any model listed with nothing but a price can do", () => {
  expect(unlockedBy("openai-compatible")).toContain("text.general.fast.v1");
  expect(unlockedBy("openai-compatible")).not.toContain(VISION);
  const servers = needsOf(getCapability(VISION)).flatMap(({ providers }) =>
    providers.map(({ name }) => name),
  );
  expect(servers).toContain("openai");
  expect(servers).not.toContain("openai-compatible");
  expect(servers).not.toContain("deepseek");
});

test("models that change pictures unlock picture editing", () => {
  expect(unlockedBy("openai")).toContain("image.edit.v1");
  expect(unlockedBy("elevenlabs")).toContain("audio.voice.generate.v1");
  expect(unlockedBy("elevenlabs")).not.toContain("image.edit.v1");
});
