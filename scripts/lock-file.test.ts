import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Entry = { integrity?: string; link?: boolean };
type Lock = { packages: Record<string, Entry> };

test.each(["package-lock.json", "e2e/outside/package-lock.json"])(
  "every package of %s has an integrity, those of other platforms too",
  (file) => {
    const { packages }: Lock = JSON.parse(readFileSync(file, "utf8"));
    const unchecked = Object.entries(packages)
      .filter(([path, entry]) => path !== "" && !entry.link && !entry.integrity?.startsWith("sha512-"))
      .map(([path]) => path);
    expect(unchecked).toEqual([]);
  },
);
