import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withoutSubject } from "./comments";
import { filesUnder, ROOT } from "./sources.fixture";

const FOLDERS = [
  ...["app", "components", "e2e", "inngest", "scripts", "server", "testing"],
  "clients/typescript/src",
];

/** The most comments without a subject that a folder may have. Every other folder has none. */
const LEFT: Record<string, number> = {
  "server/api": 1,
  "server/domain": 520,
  "server/laws": 3,
  "server/sql": 3,
};

test("no comment begins with a preposition or a question word, and the folders that have some get no more", () => {
  const counts: Record<string, number> = {};
  const faults: string[] = [];
  for (const file of FOLDERS.flatMap(filesUnder).filter((each) => !each.endsWith(".gen.ts"))) {
    const found = withoutSubject(readFileSync(join(ROOT, file), "utf8"));
    const folder = Object.keys(LEFT).find((each) => file.startsWith(`${each}/`));
    if (folder) counts[folder] = (counts[folder] ?? 0) + found.length;
    else faults.push(...found.map((text) => `${file}: ${text.slice(0, 80)}`));
  }
  expect(faults).toEqual([]);
  for (const [folder, most] of Object.entries(LEFT))
    expect(counts[folder], `comments of ${folder} without a subject`).toBeLessThanOrEqual(most);
});

test("the law sees every kind of comment, and no other text", () => {
  // A § stands for a slash, so that the law above does not find these lines.
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
