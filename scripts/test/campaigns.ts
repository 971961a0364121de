import { readFileSync } from "node:fs";
import { openImports, sourceFiles } from "./imports";

/*
 * What `npm test` runs in part and `npm run test:long` whole. Test files that use testing/campaign.ts, and tests of specs
 * with the tag "@full" (every page in both themes there), have one implementation in two sizes. What has the tag "long", a
 * test or a whole file (specs: "@long"), runs in `npm run test:long` alone; a test of the same kind without it stays in
 * `npm test`.
 */

const isTest = (file: string) => /\.test\.tsx?$/.test(file);
const testFiles = () => sourceFiles(".").filter(isTest);
const textOf = (file: string) => readFileSync(file, "utf8");

/** The test files of which `npm test` runs nothing. */
export const longFiles = (): string[] =>
  testFiles().filter((file) => textOf(file).startsWith("/** @module-tag long */"));

/** The test files that run whole, and those of which only tests with the tag are to run. */
export function longTests(): { whole: string[]; tagged: string[] } {
  const { importedBy } = openImports(".");
  const long = new Set(longFiles());
  const isWhole = (file: string) => long.has(file) || importedBy(file).has("testing/campaign.ts");
  const whole = testFiles().filter(isWhole);
  const tagged = testFiles().filter((file) => !isWhole(file) && /\btags: "long"/.test(textOf(file)));
  return { whole, tagged };
}

/** For Playwright's --grep: the tests that run whole, and those that run there alone. */
export const LONG_SPECS = "@(full|long)\\b";
