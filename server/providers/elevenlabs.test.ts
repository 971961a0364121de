import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MusicCall, SoundCall, SpeechCall } from "./define";
import elevenlabs from "./elevenlabs";
import {
  answersItsFixtures,
  checksCredentials,
  keyInHeader,
  tellsTheTruthAboutSubmission,
} from "./testing/fixtures";
import { caughtFault, ioFor, type Script, startVendor, type Vendor } from "./testing/vendor";

const signing = keyInHeader("xi-api-key");
const said: SpeechCall = {
  text: "Good morning.",
  voiceId: "21m00Tcm4TlvDq8ikWAM",
  count: 1,
  diverse: true,
  container: "ogg",
};
const played: MusicCall = {
  prompt: "Calm piano",
  durationMs: 3_000,
  count: 1,
  instrumental: true,
  container: "mp3",
};
const heard: SoundCall = { prompt: "A coin", durationMs: 500, count: 1, diverse: true, container: "ogg" };

answersItsFixtures(elevenlabs, join(import.meta.dirname, "elevenlabs.fixtures"), {
  headers: { "content-type": "application/json" },
  signing,
});
tellsTheTruthAboutSubmission(elevenlabs, {
  port: "speech",
  model: "eleven_multilingual_v2",
  call: said,
  signing,
});
tellsTheTruthAboutSubmission(elevenlabs, { port: "music", model: "music_v1", call: played, signing });
tellsTheTruthAboutSubmission(elevenlabs, {
  port: "sound",
  model: "eleven_text_to_sound_v2",
  call: heard,
  signing,
});
checksCredentials(elevenlabs, { path: "/v1/user", answer: { user_id: "u" }, signing });

describe("elevenlabs", () => {
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await startVendor();
  });
  afterAll(() => vendor.stop());
  const submit = async (more: Partial<SpeechCall>) =>
    elevenlabs.speech?.submit(
      { ...said, ...more },
      ioFor(elevenlabs, "eleven_multilingual_v2", "speech", {
        baseUrl: vendor.url,
        credentials: { apiKey: "k" },
      }),
    );
  const file: Script = {
    bytes: Buffer.from("OggS"),
    headers: { "content-type": "audio/ogg", "character-cost": "13" },
  };
  const seeds = () => vendor.arrived.map(({ body }) => JSON.parse(body).seed);

  test.each<[Partial<SpeechCall>, (number | undefined)[]]>([
    [{ seed: 4_294_967_294, diverse: true }, [4_294_967_294, 4_294_967_295, 0]],
    [{ seed: 5, diverse: false }, [5, 5, 5]],
    [{}, [undefined, undefined, undefined]],
  ])("three takes with %j are three requests in sequence", async (more, expected) => {
    vendor.answer(file);
    const progress = await submit({ ...more, count: 3 });
    expect(seeds()).toEqual(expected);
    expect(progress).toMatchObject({ state: "done", usage: { characters: 39 } });
    expect(progress?.state === "done" && progress.result.takes).toHaveLength(3);
  });

  test.each<[string, Script, object | null]>([
    ["refused", { status: 422, json: { detail: [] } }, { characters: 13 }],
    ["turned away", { status: 429, json: {} }, { characters: 13 }],
    ["failed", { status: 500, json: {} }, null],
    ["lost", "close", null],
  ])(
    "a second take that is %s leaves the first one, whose usage is reported only if the cost is known",
    async (_case, second, usage) => {
      vendor.answer(file, second, file);
      const progress = await submit({ count: 3 });
      expect(vendor.arrived).toHaveLength(2);
      expect(progress).toMatchObject({ state: "done", usage });
      expect(progress?.state === "done" && progress.result.takes).toHaveLength(1);
    },
  );

  test.each([
    [
      401,
      { detail: { status: "quota_exceeded" } },
      "refused",
      "The ElevenLabs account has no credits left. (HTTP 401)",
    ],
    [429, { detail: { code: "system_busy" } }, "capacity", "ElevenLabs is overloaded. (HTTP 429)"],
    [
      404,
      { detail: { status: "voice_not_found" } },
      "refused",
      "The ElevenLabs account has no voice with this id. (HTTP 404)",
    ],
    [
      422,
      { detail: [{ loc: ["body"], msg: "x" }] },
      "refused",
      "The provider rejected the request. (HTTP 422)",
    ],
  ])("HTTP %d with %j is %s", async (status, json, kind, message) => {
    vendor.answer({ status, json });
    const fault = await caughtFault(submit({}));
    expect([fault.kind, fault.submission, fault.message]).toEqual([kind, "attempted", message]);
  });
});
