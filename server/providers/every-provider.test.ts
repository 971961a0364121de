import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ModelFacts, PortName, Ports } from "./define";
import { modelsFromSetting } from "./openai-compatible";
import type { Provider } from "./provider";
import { providers } from "./registry.gen";
import {
  refusesWrongCredentials,
  tellsTheTruthAboutPins,
  tellsTheTruthAboutSubmission,
} from "./testing/fixtures";
import { answersItsPinFixtures, readPinFixtures } from "./testing/pin-fixtures";

/*
 * Promises of every provider: fixtures for every port and pinned interface, a check that refuses a wrong key, and the
 * truth about whether a request left when it was refused, at capacity, silent or answered badly.
 */

const picture = { bytes: Buffer.from("89504e470d0a1a0a", "hex"), mediaType: "image/png", filename: "a.png" };

/** A simple call of each port that the model accepts. */
const CALLS: { [P in PortName]: (model: ModelFacts) => Ports[P]["call"] } = {
  text: () => ({
    messages: [{ role: "user", content: "Hello" }],
    maxOutputTokens: 100,
    responseFormat: { type: "text" },
  }),
  image: ({ image }) => ({
    prompt: "A red cube",
    ...(image?.sizes?.[0] ?? { width: 1024, height: 1024 }),
    quality: "auto",
    count: 1,
    transparent: false,
    referenceImages: [],
  }),
  speech: () => ({ text: "Hello", voiceId: "alloy", count: 1, diverse: false, container: "mp3" }),
  music: ({ duration }) => ({
    prompt: "A waltz",
    durationMs: duration?.minMs ?? 10_000,
    count: 1,
    instrumental: true,
    container: "mp3",
  }),
  sound: ({ duration }) => ({
    prompt: "A door",
    durationMs: duration?.minMs ?? 2_000,
    count: 1,
    diverse: false,
    container: "mp3",
  }),
  video: ({ video, duration }) => ({
    prompt: "The sea",
    aspectRatio: "16:9",
    durationSeconds: video?.seconds?.[0] ?? (duration?.minMs ?? 5_000) / 1_000,
    referenceImages: [],
  }),
  mesh: () => ({ images: [picture], profile: "toy_default", texture: null }),
  registrar: () => ({ kind: "availability", domain: "example.com" }),
  embedding: () => ({ texts: ["Hello"] }),
};
const PORTS = Object.keys(CALLS) as PortName[]; // the record has every port

/** The sandbox is excluded because its own tests are stricter. An operator's server gets models from a setting. */
const vendors: Provider[] = providers
  .filter(({ name }) => name !== "sandbox")
  .map((provider: Provider) =>
    provider.modelsFrom && provider.models.length === 0
      ? { ...provider, models: modelsFromSetting("llama3:8b:0.05:0.08,nomic:0.01:embeddings") }
      : provider,
  );

describe.each(vendors.map((provider) => [provider.name, provider] as const))("%s", (name, provider) => {
  const ports = PORTS.filter((port) => provider[port]);
  const firstOf = (port: PortName) => provider.models.find((model) => model.port === port);
  const credentials = Object.fromEntries(
    Object.keys(provider.credentials.shape).map((field) => [
      field,
      `sk-canary-${field}-0a9b8c7d6e5f4a3b2c1d`,
    ]),
  );

  test("every port has a model and fixtures", () => {
    expect(ports.filter((port) => !firstOf(port))).toEqual([]);
    const folder = join(import.meta.dirname, `${name}.fixtures`);
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".json")) : [];
    const played = files.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")).port);
    expect(ports.filter((port) => !played.includes(port))).toEqual([]);
  });

  const signing = { credentials, headers: {} };
  refusesWrongCredentials(provider, signing);

  for (const port of ports) {
    const model = firstOf(port);
    if (model)
      tellsTheTruthAboutSubmission(provider, { port, model: model.id, call: CALLS[port](model), signing });
  }

  const apis = Object.keys(provider.pins ?? {});
  if (apis.length === 0) return;
  const pinned = readPinFixtures(join(import.meta.dirname, `${name}.fixtures`));
  test("every pinned interface has fixtures, and exactly those that can defer have flex fixtures", () => {
    expect(apis.filter((api) => !pinned.some((fixture) => fixture.api === api))).toEqual([]);
    const flex = pinned.filter(({ tier }) => tier === "flex").map(({ api }) => api);
    expect([...new Set(flex)].sort()).toEqual(apis.filter((api) => provider.pins?.[api]?.canDefer).sort());
  });
  answersItsPinFixtures(provider, pinned, signing);
  for (const api of apis) tellsTheTruthAboutPins(provider, api, firstOf("text")?.id ?? "", signing);
});
