import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles } from "@/scripts/test/imports";
import { JOB_STATUSES, TERMINAL } from "@/server/contract/enums";

const ROOT = resolve(import.meta.dirname, "../..");
const GUARDS = readdirSync(join(ROOT, "prisma/guards")).map((name) => `prisma/guards/${name}`);
const sources = sourceFiles(ROOT).filter(
  (file) => /^(server|inngest|scripts)\//.test(file) && !/\.test\./.test(file),
);

/** Statuses in which a job may still run in a process: its lease counts, and its slot is taken. */
const LEASED = ["canceling", "running"];

/** Lists of words in SQL, with the words sorted. */
function listsOf(files: string[]): { file: string; words: string[] }[] {
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/\bIN\s+\(((?:'[a-z_]+'(?:, )?)+)\)/g)].map(
      ([, list = ""]) => ({ file, words: [...list.matchAll(/[a-z_]+/g)].map(([word]) => word).sort() }),
    ),
  );
}

const lists = listsOf([...GUARDS, ...sources]);
const withWords = (...words: string[]) =>
  lists.filter(
    (list) => list.words.length < JOB_STATUSES.length && words.every((word) => list.words.includes(word)),
  );
const isOfJobs = ({ words }: { words: string[] }) =>
  words.every((word) => JOB_STATUSES.some((status) => status === word));

test("the database has the statuses of jobs that the interface has", () => {
  const known = [...JOB_STATUSES].sort();
  expect(lists.filter(({ words }) => String(words) === String(known)).map(({ file }) => file)).toEqual([
    "prisma/guards/1-words.sql",
  ]);
});

test("every list in SQL of ended or leased statuses is complete", () => {
  const ended = withWords("succeeded", "canceled").filter(isOfJobs);
  expect(ended.length).toBeGreaterThanOrEqual(3);
  expect(ended.filter(({ words }) => String(words) !== String([...TERMINAL].sort()))).toEqual([]);
  const leased = withWords("running", "canceling");
  expect(leased.length).toBeGreaterThanOrEqual(9);
  expect(leased.filter(({ words }) => String(words) !== String(LEASED))).toEqual([]);
});
