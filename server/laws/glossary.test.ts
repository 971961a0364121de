import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exportedNames } from "./names";
import { SHARED_NAMES } from "./shared-names";
import { ROOT } from "./sources.fixture";

const ROW = /^\| ([a-z ]+) \| .+ \| `(\w+)` \| `([\w/.-]+)` \|$/;
const lines = readFileSync(join(ROOT, "docs/architecture/glossary.md"), "utf8").split("\n");
const rows = lines.filter((line) => /^\| [a-z]/.test(line));
const words = rows.map((row) => ROW.exec(row)?.slice(1) ?? [row, "", ""]) as [string, string, string][];

/** Lists the names that a file declares: exports of TypeScript, models of the schema, views of SQL. */
function declaredNames(file: string, text: string): string[] {
  if (/\.tsx?$/.test(file)) return exportedNames(text);
  return [...text.matchAll(/^(?:model|CREATE VIEW) "?(\w+)"?/gm)].map(([, name = ""]) => name);
}

test("each word of the glossary is declared by the file that owns it", () => {
  expect(words.length).toBeGreaterThan(60);
  const wrong = words.filter(
    ([, name, file]) =>
      !existsSync(join(ROOT, file)) ||
      !declaredNames(file, readFileSync(join(ROOT, file), "utf8")).includes(name),
  );
  expect(wrong.map(([word, name, file]) => `${word}: ${name} is not in ${file}`)).toEqual([]);
});

test("a word is in the glossary once, and its name belongs to one word", () => {
  const twice = (names: string[]) => names.filter((name, place) => names.indexOf(name) !== place);
  expect(twice(words.map(([word]) => word))).toEqual([]);
  expect(twice(words.map(([, name]) => name))).toEqual([]);
});

test("no name of the glossary is on the list of names that several files export", () => {
  expect(words.filter(([, name]) => SHARED_NAMES.includes(name)).map(([word]) => word)).toEqual([]);
});

test("models and views are declarations, a mention is not", () => {
  expect(declaredNames("a.prisma", "model Job {\n  attempt Attempt[]\n}")).toEqual(["Job"]);
  expect(declaredNames("a.sql", 'CREATE VIEW "execution" AS SELECT 1')).toEqual(["execution"]);
});
