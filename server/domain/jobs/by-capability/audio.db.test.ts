import { OggVorbisDecoder } from "@wasm-audio-decoders/ogg-vorbis";
import { MPEGDecoder } from "mpg123-decoder";
import { describe, expect, test } from "vitest";
import { artifactStore } from "@/server/domain/artifacts";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import type { Json } from "@/server/platform/durable/step";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";

/* Voice, music and sound effects from the sandbox, each file decoded by an independent decoder. */

const VOICE = "audio.voice.generate.v1";
const MUSIC = "audio.music.generate.v1";
const SOUND = "audio.sfx.generate.v1";
const said = { text: "Welcome aboard. We leave at nine.", voiceId: "river" };

/** Submits a job, runs it to the end and reads it back. */
async function record(project: TestProject, key: string, input: Record<string, Json>, model = "sandbox-1") {
  const { ctx, clock } = project;
  const { jobId } = await jobs.submit(ctx, key, { input, preferredModel: model });
  await jobs.run(ctx, jobId, inlineStep(clock));
  return jobs.get(ctx, jobId);
}

async function bytesOf(sha256: string | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await artifactStore().open(sha256 ?? "")) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Measures a file with an independent decoder. */
async function heard(file: Uint8Array, mediaType: string) {
  const decoder = mediaType === "audio/ogg" ? new OggVorbisDecoder() : new MPEGDecoder();
  await decoder.ready;
  const decoded = decoder instanceof MPEGDecoder ? decoder.decode(file) : await decoder.decodeFile(file);
  decoder.free();
  const samples = decoded.channelData[0] ?? new Float32Array();
  const loudness = Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length);
  const peak = samples.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  return {
    ms: (decoded.samplesDecoded / decoded.sampleRate) * 1000,
    frameMs: (1152 / decoded.sampleRate) * 1000,
    loudness,
    peak,
    errors: decoded.errors.length,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads outputs of every shape
type Output = any;

describe("audio files", () => {
  test.each<[string, Record<string, Json>, string, string, number | null]>([
    [VOICE, said, "audio/ogg", "voice-1.ogg", null],
    [VOICE, { ...said, outputFormatPreference: "mp3" }, "audio/mpeg", "voice-1.mp3", null],
    [MUSIC, { prompt: "Calm piano", durationMs: 3_000 }, "audio/mpeg", "music-1.mp3", 3_000],
    [
      MUSIC,
      { prompt: "Fast dance", durationMs: 7_777, forceInstrumental: false },
      "audio/mpeg",
      "music-1.mp3",
      7_777,
    ],
    [SOUND, { prompt: "A door slams" }, "audio/ogg", "sound-1.ogg", 2_000],
    [SOUND, { prompt: "Rain", durationMs: 100 }, "audio/ogg", "sound-1.ogg", 100],
    [SOUND, { prompt: "A laser", durationMs: 1_234 }, "audio/ogg", "sound-1.ogg", 1_234],
    [SOUND, { prompt: "A bell rings", durationMs: 22_000 }, "audio/ogg", "sound-1.ogg", 22_000],
  ])("%s %j makes a file that plays without errors", async (key, input, mediaType, filename, wishMs) => {
    const project = await makeProject();
    const job = await record(project, key, input);
    expect(job).toMatchObject({ status: "succeeded", primaryArtifactId: job.artifacts[0]?.artifactId });
    const [artifact] = job.artifacts;
    expect(artifact).toMatchObject({ mediaType, filename, kind: "audio", variantIndex: 0 });
    const file = await bytesOf(artifact?.sha256 ?? null);
    const { ms, frameMs, loudness, peak, errors } = await heard(file, mediaType);
    expect(errors).toBe(0);
    expect(Math.abs(ms - (artifact?.durationMs ?? 0))).toBeLessThanOrEqual(1);
    if (wishMs !== null) expect(Math.abs(ms - wishMs)).toBeLessThanOrEqual(frameMs);
    expect(loudness).toBeGreaterThan(0.005);
    expect(peak).toBeLessThanOrEqual(1.05);
    const { artifacts }: Output = job.typedOutput;
    expect(artifacts).toEqual([
      {
        artifactId: artifact?.artifactId,
        mediaType,
        durationMs: artifact?.durationMs,
        variantIndex: 0,
        kind: "audio",
        downloadPath: artifact?.downloadPath,
      },
    ]);
    const receipt: Output = await jobs.receipt(project.ctx, job.jobId);
    expect(receipt.text).toBeNull();
    expect(receipt.media).toMatchObject({ requestedVariants: 1, mediaTypes: [mediaType] });
    expect(receipt.artifacts[0]).toMatchObject({ durationMs: artifact?.durationMs });
  });

  test("the same call makes the same file, and another voice or prompt a different one", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const hashOf = async (key: string, input: Record<string, Json>) =>
      (await record(project, key, input)).artifacts[0]?.sha256;
    const sound = { prompt: "A coin", durationMs: 500 };
    expect(await hashOf(SOUND, sound)).toBe(await hashOf(SOUND, sound));
    expect(await hashOf(SOUND, { ...sound, prompt: "A cow" })).not.toBe(await hashOf(SOUND, sound));
    expect(await hashOf(VOICE, said)).toBe(await hashOf(VOICE, said));
    expect(await hashOf(VOICE, { ...said, voiceId: "stone" })).not.toBe(await hashOf(VOICE, said));
  });

  test("a longer text and a slower voice make longer audio", { tags: "long" }, async () => {
    const project = await makeProject();
    const lengthOf = async (more: Record<string, Json>) =>
      (await record(project, VOICE, { ...said, ...more })).artifacts[0]?.durationMs ?? 0;
    const plain = await lengthOf({});
    expect(await lengthOf({ text: `${said.text} ${said.text}` })).toBeGreaterThan(plain * 1.7);
    expect(await lengthOf({ voiceSettings: { speed: 0.5 } })).toBeGreaterThan(plain * 1.8);
  });
});

describe("variants of audio", () => {
  test("variants of one job differ, one can be selected, and each is charged", async () => {
    const project = await makeProject();
    const job = await record(project, SOUND, { prompt: "A coin", durationMs: 1_000, variantCount: 3 });
    expect(job).toMatchObject({
      primaryArtifactId: null,
      variantSet: { requestedCount: 3, completedCount: 3, failedCount: 0, selectedArtifactId: null },
    });
    expect(new Set(job.artifacts.map(({ sha256 }) => sha256)).size).toBe(3);
    expect(job.artifacts.map(({ variantIndex, filename }) => [variantIndex, filename])).toEqual([
      [0, "sound-1.ogg"],
      [1, "sound-2.ogg"],
      [2, "sound-3.ogg"],
    ]);
    const artifactId = job.artifacts[2]?.artifactId ?? "";
    expect(await jobs.selectVariant(project.ctx, job.jobId, { artifactId })).toMatchObject({
      primaryArtifactId: artifactId,
    });
    expect((await rowsOf(job.jobId)).job.actual_micros).toBe(3_000);
  });

  test('variants with one seed and diversity mode "none" are the same', { tags: "long" }, async () => {
    const project = await makeProject();
    const hashes = async (diversityMode: string) =>
      (await record(project, VOICE, { ...said, variantCount: 2, seed: 7, diversityMode })).artifacts.map(
        ({ sha256 }) => sha256,
      );
    expect(new Set(await hashes("none")).size).toBe(1);
    expect(new Set(await hashes("auto")).size).toBe(2);
  });

  test("failed variants are counted and not charged", async () => {
    const project = await makeProject();
    const input = { prompt: "Drums", durationMs: 4_000, variantCount: 2 };
    const job = await record(project, MUSIC, input, "sandbox-partial");
    expect(job).toMatchObject({
      status: "succeeded",
      variantSet: { requestedCount: 2, completedCount: 1, failedCount: 1 },
    });
    const { job: row, hold } = await rowsOf(job.jobId);
    expect(row.actual_micros).toBe(8_000);
    expect(hold).toMatchObject({ state: "settled", amount_micros: 16_960, settled_micros: 8_480 });
  });
});

describe("audio failures", () => {
  test.each<[string, Record<string, Json>, string, string, string]>([
    [VOICE, said, "sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled"],
    [MUSIC, { prompt: "x", durationMs: 3_000 }, "sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled"],
    [SOUND, { prompt: "x" }, "sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled"],
    [VOICE, said, "sandbox-garbled", "PROVIDER_ERROR", "settled"],
    [MUSIC, { prompt: "x", durationMs: 3_000 }, "sandbox-garbled", "PROVIDER_ERROR", "settled"],
    [SOUND, { prompt: "x" }, "sandbox-refuse", "ProviderRejected", "released"],
    [VOICE, said, "sandbox-lost", "TRANSPORT_AMBIGUOUS", "ambiguous"],
    [MUSIC, { prompt: "x", durationMs: 3_000 }, "sandbox-fail", "PROVIDER_ERROR", "released"],
  ])("%s %j on %s fails as %s", async (key, input, model, code, hold) => {
    const job = await record(await makeProject(), key, input, model);
    expect(job).toMatchObject({ status: "failed", error: { code }, artifacts: [] });
    expect((await rowsOf(job.jobId)).hold.state).toBe(hold);
  });

  test("a busy provider is retried until it has capacity", async () => {
    const job = await record(await makeProject(), SOUND, { prompt: "A coin" }, "sandbox-busy");
    expect(job.status).toBe("succeeded");
  });
});

test("unknown providerExtensions are accepted, and the job succeeds", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const providerExtensions = { language_code: "en", constructor: 1, nested: { deep: [1] } };
  for (const [key, input] of [
    [VOICE, said],
    [MUSIC, { prompt: "Calm piano", durationMs: 3_000 }],
    [SOUND, { prompt: "A coin" }],
  ] as const)
    expect((await record(project, key, { ...input, providerExtensions })).status).toBe("succeeded");
});

describe("audio input validation", () => {
  test.each<[string, Record<string, Json>, string]>([
    [VOICE, { ...said, text: "" }, "text"],
    [VOICE, { text: "x" }, "voiceId"],
    [VOICE, { ...said, variantCount: 5 }, "variantCount"],
    [VOICE, { ...said, seed: 4_294_967_296 }, "seed"],
    [VOICE, { ...said, voiceSettings: { speed: 0.2 } }, "speed"],
    [VOICE, { ...said, voiceSettings: { stability: 1.1 } }, "stability"],
    [VOICE, { ...said, diversityMode: "much" }, "diversityMode"],
    [VOICE, { ...said, outputFormatPreference: "pcm_16000" }, "outputFormatPreference"],
    [MUSIC, { prompt: "x", durationMs: 2_999 }, "durationMs"],
    [MUSIC, { prompt: "x", durationMs: 300_001 }, "durationMs"],
    [SOUND, { prompt: "x", durationMs: 99 }, "durationMs"],
    [SOUND, { prompt: "x", durationMs: 22_001 }, "durationMs"],
    [SOUND, { prompt: "x", promptInfluence: 2 }, "promptInfluence"],
  ])("%s %j is refused at %s", async (key, input, field) => {
    const { ctx } = await makeProject();
    const refused = jobs.submit(ctx, key, { input });
    await expect(refused).rejects.toMatchObject({
      issues: [{ loc: expect.arrayContaining(["input", field]) }],
    });
  });

  test.each<[string, Record<string, Json>, string, number]>([
    [VOICE, { ...said, text: "é".repeat(10_001) }, "input.text", 10_000],
    [MUSIC, { prompt: "x".repeat(4_101) }, "input.prompt", 4_100],
    [SOUND, { prompt: "🔔".repeat(451) }, "input.prompt", 450],
  ])(
    "%s with a text that is too long is refused with its length",
    async (key, input, field, maxCharacters) => {
      const { ctx } = await makeProject();
      await expect(jobs.submit(ctx, key, { input })).rejects.toMatchObject({
        code: "PromptTooLong",
        details: { field, maxCharacters, actualCharacters: maxCharacters + 1 },
      });
    },
  );

  test("a text at the limit is accepted, counted in characters and not in code units", async () => {
    const job = await record(await makeProject(), SOUND, { prompt: "🔔".repeat(450), durationMs: 200 });
    expect(job.status).toBe("succeeded");
  });

  test.each([
    [VOICE, { ...said, fx: 1 }],
    [MUSIC, { prompt: "x", seed: 1 }],
    [SOUND, { prompt: "x", text: "y" }],
  ])("%s does not accept %j", async (key, input) => {
    const { ctx } = await makeProject();
    await expect(jobs.submit(ctx, key, { input })).rejects.toMatchObject({ code: "UNKNOWN_INPUT_FIELD" });
  });
});

test("a quote prices the characters or seconds of every variant, with the fee", async () => {
  const { ctx } = await makeProject();
  const total = async (key: string, input: Record<string, Json>) =>
    (await quotes.quote(ctx, key, { input, preferredModel: "sandbox-1" })).maximumAuthorizedCharge
      ?.amountMicros;
  expect(await total(VOICE, { ...said, text: "x".repeat(1_000), variantCount: 2 })).toBe(31_800);
  expect(await total(MUSIC, { prompt: "x" })).toBe(63_600);
  expect(await total(SOUND, { prompt: "x", durationMs: 500 })).toBe(530);
});
