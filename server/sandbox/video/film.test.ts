import { createFile, type Movie, MP4BoxBuffer } from "mp4box";
import { describe, expect, test } from "vitest";
import { measureMp4 } from "@/server/compute/media/mp4";
import type { VideoRequest } from "../requests";
import { film } from "./film";
import { codeMoved, codeWhole } from "./h264";

const request: VideoRequest = {
  model: "sandbox-1",
  prompt: "A lighthouse above a calm sea at dawn",
  aspectRatio: "16:9",
  durationSeconds: 1,
  referenceImages: [],
};
const shoot = async (more: Partial<VideoRequest> = {}) => {
  const { videos, usage } = await film({ ...request, ...more });
  return { bytes: Buffer.from(videos[0]?.base64 ?? "", "base64"), usage };
};

/** Reads a file with an independent demuxer. */
function demuxed(bytes: Buffer): Promise<Movie> {
  return new Promise((resolve, reject) => {
    const file = createFile();
    file.onError = reject;
    file.onReady = resolve;
    file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0));
    file.flush();
  });
}

describe("a film of the sandbox", () => {
  test.each([
    ["16:9", 1, 1280, 720],
    ["9:16", 2, 720, 1280],
  ] as const)(
    "a film in %s of %i s is an MP4 that can play while it loads",
    async (aspectRatio, durationSeconds, width, height) => {
      const { bytes, usage } = await shoot({ aspectRatio, durationSeconds });
      const movie = await demuxed(bytes);
      expect(usage).toEqual({ durationMs: durationSeconds * 1_000 });
      expect([movie.duration / movie.timescale, movie.isProgressive, movie.tracks.length]).toEqual([
        durationSeconds,
        true,
        1,
      ]);
      // 42 is the baseline profile, C0 its constrained form, 1F level 3.1.
      expect(movie.videoTracks[0]).toMatchObject({
        codec: "avc1.42c01f",
        nb_samples: durationSeconds * 24,
        video: { width, height },
      });
      expect(measureMp4(bytes)).toEqual({ durationMs: durationSeconds * 1_000, width, height });
    },
  );

  test("the same request gives a byte-identical film, and a different request gives a different film", {
    tags: "long",
  }, async () => {
    const [one, again, other, shown] = await Promise.all([
      shoot(),
      shoot(),
      shoot({ prompt: "A robot florist" }),
      shoot({ referenceImages: [{ mediaType: "image/png", base64: "iVBORw0K" }] }),
    ]);
    expect(one.bytes.equals(again.bytes)).toBe(true);
    expect(one.bytes.equals(other.bytes)).toBe(false);
    expect(one.bytes.equals(shown.bytes)).toBe(false);
  });
});

describe("coded pictures", () => {
  /** Samples that would look like the start of another unit if they were not escaped. */
  const of = {
    width: 64,
    height: 32,
    luma: new Uint8Array(64 * 32).map((_, index) => index % 3),
    cb: new Uint8Array(32 * 16),
    cr: new Uint8Array(32 * 16).fill(1),
  };
  const view = { of, left: 0, columns: 2 };

  test("a coded picture never holds what looks like the start of a unit", () => {
    const unit = Buffer.from(codeWhole(view));
    for (const start of ["000000", "000001", "000002"]) expect(unit.includes(start, 0, "hex")).toBe(false);
  });

  test("a view that moved as a whole is coded in a few bytes", () => {
    expect(codeMoved(view, 1, [4, 0], () => false).length).toBeLessThan(16);
  });
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["text", Buffer.from("no film at all, but long enough to hold a box")],
  ["a box that is larger than the file", Buffer.from("ffffffff6d6f6f76", "hex")],
])("measuring %s finds nothing", (_what, bytes) => {
  expect(measureMp4(bytes)).toEqual({ durationMs: null, width: null, height: null });
});
