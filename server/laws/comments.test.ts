import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withoutSubject } from "./comments";
import { filesUnder, ROOT } from "./sources.fixture";

const FOLDERS = [
  ...["app", "bench", "components", "e2e", "inngest", "scripts", "server", "testing"],
  "clients/typescript/src",
];

test("no comment begins with one of the listed prepositions or question words", () => {
  const files = FOLDERS.flatMap(filesUnder).filter((file) => !file.endsWith(".gen.ts"));
  const faults = files.flatMap((file) =>
    withoutSubject(readFileSync(join(ROOT, file), "utf8")).map((text) => `${file}: ${text.slice(0, 80)}`),
  );
  expect(files.length).toBeGreaterThan(1_000);
  expect(faults).toEqual([]);
});

test("the law finds such comments on lines, after code, in blocks and in JSX", () => {
  // A § replaces each slash, so that the law above does not find these lines.
  const source = [
    "§§ What a line says",
    "§§ of two.",
    "  §§ Of a second one.",
    "",
    "  const a = 1; §§ By the way.",
    "§** Where it is. *§",
    "§*",
    " * Whether it is so.",
    " *§",
    "<div>{§* With a brace. *§}<§div>",
    "§** The first word is the subject. What follows may be anything. *§",
    "§** Offers nothing. *§",
    'const text = "To a string";',
  ].join("\n");
  expect(withoutSubject(source.replaceAll("§", "/")).map((text) => text.split(" ", 1)[0])).toEqual([
    "What",
    "By",
    "Where",
    "Whether",
    "With",
  ]);
});
