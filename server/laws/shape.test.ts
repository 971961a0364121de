import { resolve } from "node:path";
import { expect, test } from "vitest";
import { faultsOfLists, listsOf } from "./lists";
import { countFiles, cyclesOf, faultsOfCycles, faultsOfFolders, faultsOfShape } from "./shape";

test("no folder is crowded, and no files import each other", () => {
  expect(faultsOfShape(resolve(import.meta.dirname, "../.."))).toEqual([]);
});

test("the lists of biome.json name only files that still break their rule", () => {
  const root = resolve(import.meta.dirname, "../..");
  expect(faultsOfLists(root)).toEqual([]);
  const off = (includes: string[]) => ({
    includes,
    linter: { rules: { complexity: { useMaxParams: "off" } } },
  });
  expect(listsOf({ overrides: [off(["**/*.test.ts", "b.ts"]), off(["a.ts"])] })).toEqual([
    { rule: "complexity/useMaxParams", files: ["a.ts"] },
  ]);
});

test("a folder of 21 files is a fault, one of 20 and a registry are not", () => {
  const filled = (folder: string, files: number) =>
    countFiles(Array.from({ length: files }, (_, n) => `${folder}/file-${n}.ts`));
  expect(faultsOfFolders(filled("server/new", 20))).toEqual([]);
  expect(faultsOfFolders(filled("server/new", 21))).toHaveLength(1);
  expect(faultsOfFolders(filled("server/providers", 50))).toEqual([]);
});

test("a cycle is found whatever its length", () => {
  const imports = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["a"]],
    ["d", []],
    ["e", ["d", "a"]],
  ]);
  expect(cyclesOf(imports)).toEqual(["a b c"]);
  expect(faultsOfCycles(cyclesOf(imports))).toEqual(["These files import each other: a b c."]);
});
