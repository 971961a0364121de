import { expect, test } from "vitest";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import { exampleInput, isExample } from "./example";

const KNOWN = "art_01k9abcdefghjkmnpqrstvwxyz";
const capability = {
  examples: [
    { input: { prompt: "A kite", source: { artifactId: "art_model" } } },
    { input: { prompt: "A boat", source: { artifactId: KNOWN } } },
  ],
} as unknown as CapabilityDescriptor; // the tested functions read only these members

test("an example's artifact id is left empty for one of the reader's own artifacts", () => {
  expect(exampleInput(capability, 0)).toEqual({ prompt: "A kite", source: { artifactId: "" } });
  expect(exampleInput(capability, 1)).toEqual({ prompt: "A boat", source: { artifactId: KNOWN } });
  expect(exampleInput(capability, 2)).toBe(null);
});

test("an unchanged example is not the reader's work, and a changed one is", () => {
  for (const place of [0, 1]) expect(isExample(capability, exampleInput(capability, place)!)).toBe(true);
  expect(isExample(capability, { ...exampleInput(capability, 1), prompt: "A boats" })).toBe(false);
  expect(isExample(capability, {})).toBe(false);
});
