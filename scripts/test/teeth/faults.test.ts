import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Fault } from "./fault";
import { FAULTS } from "./faults";

const MIGRATIONS = "prisma/migrations";

test("every planted fault has its text to replace exactly once", () => {
  const wrong = FAULTS.filter(({ file, find }) => readFileSync(file, "utf8").split(find).length !== 2);
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test("no later migration undoes a planted fault", () => {
  expect(FAULTS.filter(isPutRight).map(({ name }) => name)).toEqual([]);
});

function isPutRight({ file, find }: Fault): boolean {
  if (!file.startsWith(MIGRATIONS)) return false;
  const files = readdirSync(MIGRATIONS)
    .filter((folder) => /^\d/.test(folder))
    .map((folder) => `${MIGRATIONS}/${folder}/migration.sql`);
  return files.some((later) => later > file && readFileSync(later, "utf8").includes(find.trim()));
}
