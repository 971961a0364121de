import { afterEach, expect, test } from "vitest";
import type { RawEnvelope } from "@/server/contract/envelope";
import { env } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";
import { normalizeEnvelope } from "./normalize";
import { input, refusal } from "./normalize.fixture";

const ceilings = { ...env };
afterEach(() => {
  setSettings(ceilings);
});

function nested(depth: number): Record<string, never> {
  let value = {};
  for (let level = 1; level < depth; level++) value = { a: value };
  return value;
}

const LIMITS: [string, RawEnvelope, RawEnvelope, string][] = [
  ["externalRef", { externalRef: "x".repeat(255) }, { externalRef: "x".repeat(256) }, "body.externalRef"],
  [
    "externalRef in characters",
    { externalRef: "é😀".repeat(127) },
    { externalRef: "😀".repeat(256) },
    "body.externalRef",
  ],
  ["the number of tags", { tags: Array(32).fill("x") }, { tags: Array(33).fill("x") }, "body.tags"],
  ["the length of a tag", { tags: ["x".repeat(256)] }, { tags: ["a", "x".repeat(257)] }, "body.tags.1"],
  [
    "the size of metadata in bytes",
    { metadata: { a: "é".repeat((16384 - 8) / 2) } },
    { metadata: { a: `${"é".repeat((16384 - 8) / 2)}x` } },
    "body.metadata",
  ],
  ["the depth of metadata", { metadata: nested(32) }, { metadata: nested(33) }, "body.metadata"],
];

for (const [what, fits, exceeds, at] of LIMITS) {
  test(`${what} is held to its published ceiling`, () => {
    expect(() => normalizeEnvelope("jobs", { input, ...fits })).not.toThrow();
    expect(refusal(() => normalizeEnvelope("jobs", { input, ...exceeds }))).toMatchObject({ at });
    expect(() => normalizeEnvelope("invoke", { input, ...fits })).not.toThrow();
    expect(refusal(() => normalizeEnvelope("invoke", { input, ...exceeds }))).toMatchObject({ at });
  });
}

test("a deployment can lower the ceilings, and a value out of range counts as the published one", () => {
  setSettings({
    TAGS_MAX: 1,
    TAG_MAX_LENGTH: 3,
    EXTERNAL_REF_MAX_LENGTH: 2,
    METADATA_MAX_BYTES: 10,
    METADATA_MAX_DEPTH: 1,
  });
  for (const [body, at] of [
    [{ tags: ["a", "b"] }, "body.tags"],
    [{ tags: ["abcd"] }, "body.tags.0"],
    [{ externalRef: "abc" }, "body.externalRef"],
    [{ metadata: { a: "12345" } }, "body.metadata"],
    [{ metadata: { a: {} } }, "body.metadata"],
  ] as const) {
    expect(refusal(() => normalizeEnvelope("jobs", { input, ...body } as RawEnvelope))).toMatchObject({ at });
  }
  for (const value of [0, -1, 1_000_000]) {
    setSettings({ TAGS_MAX: value, METADATA_MAX_BYTES: value });
    expect(() => normalizeEnvelope("jobs", { input, tags: Array(32).fill("x") })).not.toThrow();
    expect(refusal(() => normalizeEnvelope("jobs", { input, tags: Array(33).fill("x") }))).toMatchObject({
      at: "body.tags",
    });
    expect(
      refusal(() => normalizeEnvelope("jobs", { input, metadata: { a: "x".repeat(16384) } })),
    ).toMatchObject({
      at: "body.metadata",
    });
  }
});
