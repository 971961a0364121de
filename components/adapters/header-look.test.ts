import { expect, test } from "vitest";
import { LIMITS } from "@/server/safetensors";
import { BAD_FILES } from "@/server/safetensors/corpus";
import { GOOD_FILES } from "@/server/safetensors/corpus-good";
import { type Look, lookAt, nameOfFile } from "./header-look";

const look = (bytes: Buffer): Promise<Look> => lookAt(new Blob([new Uint8Array(bytes)]), LIMITS);

const ABOUT_THE_HEAD = [
  "file_too_short",
  "header_empty",
  "header_too_large",
  "header_truncated",
  "header_first_byte",
  "header_utf8",
];

test("of every broken file the look names the rule of the check, or leaves it to the check", async () => {
  const named = new Set<string>();
  for (const { name, rule, bytes } of BAD_FILES) {
    const seen = await look(bytes());
    if (seen.kind === "refused") named.add(seen.rule);
    const isOfTheHead = ABOUT_THE_HEAD.includes(rule);
    expect(seen.kind === "refused" ? seen.rule : null, name).toBe(isOfTheHead ? rule : null);
  }
  expect([...named].sort()).toEqual([...ABOUT_THE_HEAD].sort());
});

test("no good file is refused", async () => {
  for (const { name, bytes } of GOOD_FILES) expect((await look(bytes())).kind, name).toBe("seen");
});

test("what a file says of itself is shown: tensors, some of their names, what it was made for", async () => {
  const flux = GOOD_FILES.find(({ name }) => name === "kohya, FLUX");
  expect(flux && (await look(flux.bytes()))).toMatchObject({
    tensors: 6,
    names: expect.arrayContaining([expect.stringContaining("lora")]),
    madeFor: "flux-1-dev/lora",
  });
});

test("a file that is larger than what is taken is not read at all", async () => {
  const huge = { size: LIMITS.fileBytes + 1, slice: () => expect.unreachable() } as unknown as Blob; // no test has 2 GiB to spare
  expect(await lookAt(huge, LIMITS)).toMatchObject({ kind: "refused", rule: "file_too_large" });
});

test("a name is the file's without its ending", () => {
  expect(nameOfFile("Moss v2.SafeTensors")).toBe("Moss v2");
  expect(nameOfFile("moss.safetensors.bak")).toBe("moss.safetensors.bak");
});
