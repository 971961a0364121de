import { expect, test } from "vitest";
import { codeFiles, exportedNames, sharedNames } from "./names";
import { SHARED_NAMES } from "./shared-names";

/** The number only falls. */
const MOST_SHARED = 39;

const shared = sharedNames(codeFiles());

test("one file declares an exported name, or the name is listed", () => {
  const unlisted = [...shared].filter(([name]) => !SHARED_NAMES.includes(name));
  expect(unlisted.map(([name, files]) => `${name}: ${files.join(", ")}`)).toEqual([]);
});

test("a listed name has several owners, and few names are listed", () => {
  expect(SHARED_NAMES.filter((name) => !shared.has(name))).toEqual([]);
  expect(SHARED_NAMES.length).toBeLessThanOrEqual(MOST_SHARED);
});

test("every kind of exported declaration is seen, once for a file", () => {
  const text = `
export type Cat = string;
export const Cat = 1;
export async function walk() {}
export function* steps() {}
export abstract class Pet {}
export interface Shelter {}
  export const nested = 1;
export { other } from "./other";
const own = 1;
`;
  expect(exportedNames(text)).toEqual(["Cat", "walk", "steps", "Pet", "Shelter"]);
});

test("a function that a domain module's index exports may share its name with others, a type or an inner function may not", () => {
  const files = new Map([
    ["server/domain/cats/index.ts", 'export { list, type Cat } from "./list";'],
    ["server/domain/cats/list.ts", "export function list() {}\nexport type Cat = 1;"],
    ["server/domain/dogs/index.ts", 'export { list } from "./list";'],
    [
      "server/domain/dogs/list.ts",
      "export function list() {}\nexport type Cat = 1;\nexport const inner = 1;",
    ],
    ["server/domain/dogs/inner.ts", "export const inner = 2;"],
  ]);
  expect([...sharedNames(files)]).toEqual([
    ["Cat", ["server/domain/cats/list.ts", "server/domain/dogs/list.ts"]],
    ["inner", ["server/domain/dogs/list.ts", "server/domain/dogs/inner.ts"]],
  ]);
});
