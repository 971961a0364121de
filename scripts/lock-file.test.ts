import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Entry = { integrity?: string; link?: boolean };
const { packages }: { packages: Record<string, Entry> } = JSON.parse(
  readFileSync("package-lock.json", "utf8"),
);

test("every package of the lock file has an integrity, those of other platforms too", () => {
  const unchecked = Object.entries(packages)
    .filter(([path, entry]) => path !== "" && !entry.link && !entry.integrity?.startsWith("sha512-"))
    .map(([path]) => path);
  expect(unchecked).toEqual([]);
});
