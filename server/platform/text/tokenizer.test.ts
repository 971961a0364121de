import { readFileSync } from "node:fs";
import fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { expect, test, vi } from "vitest";
import { campaign } from "@/testing/campaign";
import { isThreadCpuKnown, longestSliceMs } from "@/testing/thread-cpu";
import { openLongWords } from "./long-word";
import { countTokens } from "./tokenizer";

const reference = new Tiktoken(o200k);
const referenceCount = (text: string) => reference.encode(text, [], []).length;

test("text of every kind has as many tokens as the reference encoder makes", async () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom("a", "A", "b", " ", "\n", "\r", "'", "s", "1", "/", "深", "é", "-"),
      maxLength: 120,
    }),
    fc.lorem({ mode: "sentences" }),
  );
  await fc.assert(
    fc.asyncProperty(text, async (each) => {
      expect(await countTokens(each)).toBe(referenceCount(each));
    }),
    campaign.runs({ small: 400, full: 4_000 }),
  );
}, 60_000);

test("a long word that is read in stretches ends where the pattern ends it", () => {
  const pattern = new RegExp(o200k.pat_str, "uy");
  const endOfLongWord = openLongWords(3);
  let long = 0;
  const piecesOf = (text: string) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += pieces.at(-1)!.length) {
      pattern.lastIndex = at;
      const [expected = ""] = pattern.exec(text) ?? [];
      const reading = endOfLongWord(text, at);
      let read = reading.next();
      while (!read.done) read = reading.next();
      if (read.value !== null) {
        long++;
        expect(text.slice(at, read.value), JSON.stringify(text)).toBe(expected);
      }
      pieces.push(expected);
    }
  };
  const unit = fc.constantFrom(
    ...["a", "A", "Ж", "ж", "深", "ʰ", "ǅ", "\u0301", " ", "'", "s", "l", "1", "-", "\n", "😀", "𝐀"],
  );
  const text = fc.oneof(
    fc.string({ unit, maxLength: 24 }),
    fc.string({ unit: fc.constantFrom("Ж", "ж", "深", "'", "s"), maxLength: 24 }),
  );
  fc.assert(fc.property(text, piecesOf), campaign.runs({ small: 1_000, full: 20_000 }));
  expect(long).toBeGreaterThan(100);
});

test("names of special tokens are text, and a lone surrogate is a replacement character", async () => {
  expect(await countTokens("<|endoftext|>")).toBeGreaterThan(1);
  expect(await countTokens("\ud800")).toBe(await countTokens("\ufffd"));
  expect(await countTokens("")).toBe(0);
  expect(await countTokens(["How", " deep", ""]), "several texts").toBe(
    (await countTokens("How")) + (await countTokens(" deep")),
  );
});

test("text that is counted in stretches has the same tokens", async () => {
  const text = readFileSync("ARCHITECTURE.md", "utf8").repeat(3).slice(0, 60_000);
  expect(await countTokens(text)).toBe(referenceCount(text));
}, 60_000);

test("a word as long as a whole prompt takes no quadratic time, and other work has its turn", async () => {
  for (const word of ["a".repeat(262_144), "深".repeat(87_381), " ".repeat(262_144)]) {
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    const count = await countTokens(word);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(0);
    expect(count).toBeGreaterThan(1_000);
    expect(count).toBeLessThanOrEqual(262_144);
  }
  let turns = 0;
  const ticking = setInterval(() => turns++, 0);
  await countTokens("How deep is the sea?\nAnd how wide?\n".repeat(7_000));
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(0);
}, 60_000); // quadratic time would be minutes

test.runIf(isThreadCpuKnown)(
  "reading the vocabulary and counting a mebibyte never hold the thread for 25 ms",
  async () => {
    const read = async () => {
      vi.resetModules(); // another file of this worker may have read the vocabulary
      const fresh = await import("./tokenizer");
      return longestSliceMs(() => fresh.countTokens("How deep is the sea?"));
    };
    expect(Math.min(await read(), await read())).toBeLessThan(25);
    for (const text of ["a".repeat(2 ** 20), "Ж".repeat(2 ** 19)])
      expect(await longestSliceMs(() => countTokens(text), { tries: 4, enough: 25 })).toBeLessThan(25);
    const many = Array.from({ length: 20_000 }, () => "How deep is the sea?");
    expect(await longestSliceMs(() => countTokens(many), { tries: 4, enough: 25 })).toBeLessThan(25);
  },
);
