import { readFileSync } from "node:fs";
import { OggOpusDecoder } from "ogg-opus-decoder";
import { expect, test } from "vitest";
import { readAudio } from "./read";

/* Files made by ffmpeg: Opus in Ogg, MP3 of MPEG 2 with tags at both ends, and a WAV. */

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url));

test("an Opus file has the length that its decoder finds", async () => {
  const file = fixture("opus.ogg");
  const decoder = new OggOpusDecoder();
  await decoder.ready;
  const { samplesDecoded } = await decoder.decodeFile(file);
  decoder.free();
  expect(samplesDecoded).toBe(72_000);
  expect(readAudio(file)).toEqual({ mediaType: "audio/ogg", durationMs: 1_500 });
});

test("tags and encoder silence are not part of an MP3's length", () => {
  expect(readAudio(fixture("tagged.mp3"))).toEqual({ mediaType: "audio/mpeg", durationMs: 1_500 });
});

test.each<[string, (file: Buffer) => Uint8Array, string]>([
  ["cut Ogg", (file) => file.subarray(0, file.byteLength - 20), "opus.ogg"],
  ["Ogg with a byte changed", (file) => file.with(file.byteLength - 20, 7), "opus.ogg"],
  ["Ogg with more behind it", (file) => Buffer.concat([file, Buffer.from("more")]), "opus.ogg"],
  ["Ogg of nothing but its head", (file) => file.subarray(0, 47), "opus.ogg"],
  ["MP3 with a hole", (file) => Buffer.concat([file.subarray(0, 2_000), file.subarray(2_300)]), "tagged.mp3"],
  ["other sound", (file) => file, "tone.wav"],
  ["text", () => Buffer.from("ID3 is what it says, and no more than that"), "tone.wav"],
  ["nothing", () => new Uint8Array(), "tone.wav"],
])("%s is not accepted as an audio file", (_case, change, name) => {
  expect(readAudio(change(fixture(name)))).toBeNull();
});

test("random bytes are never audio and never break the reader", () => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  };
  const heads = [
    [0x4f, 0x67, 0x67, 0x53, 0, 2],
    [0xff, 0xfb, 0x90, 0xc4],
    [0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 9],
  ];
  for (let round = 0; round < 300; round++) {
    const bytes = Uint8Array.from({ length: round * 3 }, random);
    bytes.set((heads[round % 3] ?? []).slice(0, bytes.length));
    expect(readAudio(bytes)).toBeNull();
  }
});
