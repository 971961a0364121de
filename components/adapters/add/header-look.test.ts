import { expect, test } from "vitest";
import { SAFETENSORS_LIMITS } from "@/server/compute/safetensors/index";
import { BAD_FILES } from "@/testing/corpora/safetensors/bad-files";
import { GOOD_FILES } from "@/testing/corpora/safetensors/good-files";
import { type HeaderLook, lookAt, nameOfFile } from "./header-look";

const look = (bytes: Buffer): Promise<HeaderLook> =>
  lookAt(new Blob([new Uint8Array(bytes)]), SAFETENSORS_LIMITS);

const ABOUT_THE_HEAD = [
  "file_too_short",
  "header_empty",
  "header_too_large",
  "header_truncated",
  "header_first_byte",
  "header_utf8",
];

test("a broken file fails with the same rule as on the server, or is left to the server", async () => {
  const named = new Set<string>();
  for (const { name, rule, bytes } of BAD_FILES) {
    const seen = await look(bytes());
    if (seen.kind === "refused") named.add(seen.rule);
    const isOfTheHead = ABOUT_THE_HEAD.includes(rule);
    expect(seen.kind === "refused" ? seen.rule : null, name).toBe(isOfTheHead ? rule : null);
  }
  expect([...named].sort()).toEqual([...ABOUT_THE_HEAD].sort());
});

test("a valid file is never refused", async () => {
  for (const { name, bytes } of GOOD_FILES) expect((await look(bytes())).kind, name).toBe("seen");
});

test("the header yields the tensor count, some tensor names and the base model", async () => {
  const flux = GOOD_FILES.find(({ name }) => name === "kohya, FLUX");
  expect(flux && (await look(flux.bytes()))).toMatchObject({
    tensors: 6,
    names: expect.arrayContaining([expect.stringContaining("lora")]),
    madeFor: "flux-1-dev/lora",
  });
});

test("a file above the size limit is refused without being read", async () => {
  const huge = {
    size: SAFETENSORS_LIMITS.fileBytes + 1,
    slice: () => expect.unreachable(),
  } as unknown as Blob; // no test has 2 GiB to spare
  expect(await lookAt(huge, SAFETENSORS_LIMITS)).toMatchObject({ kind: "refused", rule: "file_too_large" });
});

test("the suggested name is the file name without its extension", () => {
  expect(nameOfFile("Moss v2.SafeTensors")).toBe("Moss v2");
  expect(nameOfFile("moss.safetensors.bak")).toBe("moss.safetensors.bak");
});
