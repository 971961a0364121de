import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/* Checks docs/architecture/renames.md, which leads from old names to new ones and helps only while it is true. */

const ROOT = join(import.meta.dirname, "../..");
const rows = readFileSync(join(ROOT, "docs/architecture/renames.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| Was |"))
  .map((line) => line.split("|").slice(1, -1).map(listed));
const moves = rows.filter((cells) => cells.length === 2);
const renames = rows.filter((cells) => cells.length === 3);

function listed(cell: string): string[] {
  return cell
    .replaceAll("`", "")
    .split(",")
    .map((name) => name.trim());
}

/** True if a TypeScript or SQL text declares the name. */
function declares(text: string, name: string): boolean {
  return new RegExp(`\\b(?:const|let|function\\*?|type|class|CREATE FUNCTION)\\s+${name}\\b`).test(text);
}

/** The text of a file's folder, in which an old name would still be. */
function folderOf(file: string): string {
  const folder = join(ROOT, dirname(file));
  return readdirSync(folder)
    .filter((name) => /\.(ts|sql)$/.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

test("every new file or folder exists, and no old one does", () => {
  expect(moves.length).toBeGreaterThan(20);
  expect(moves.flatMap(([was = []]) => was).filter((path) => existsSync(join(ROOT, path)))).toEqual([]);
  expect(moves.flatMap(([, is = []]) => is).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every new name is declared in the file that the table names, and no old name is beside it", () => {
  expect(renames.length).toBeGreaterThan(10);
  const faults = renames.flatMap(([was = [], is = [], [file = ""] = []]) => {
    if (!existsSync(join(ROOT, file))) return [`${file} does not exist`];
    const text = readFileSync(join(ROOT, file), "utf8");
    const around = folderOf(file);
    return [
      ...is.filter((name) => !declares(text, name)).map((name) => `${name} is not in ${file}`),
      ...was.filter((name) => declares(around, name)).map((name) => `${name} is still beside ${file}`),
    ];
  });
  expect(faults).toEqual([]);
});

test("a declared name is found, and a mention is not", () => {
  expect(declares("export const ruled = 1;", "ruled")).toBe(true);
  expect(declares("export async function ruled() {}", "ruled")).toBe(true);
  expect(declares("// ruled\nasFault(ruledOut)", "ruled")).toBe(false);
});
