import { readFileSync } from "node:fs";
import { openImports, sourceFiles } from "./imports";

/*
 * Says what `npm test` runs in part and `npm run test:long` in full. Test files that use testing/campaign.ts, and specs with the
 * tag "@full" (every page in both themes there), have one implementation in two sizes. A test or a whole file with the tag "long"
 * (in specs "@long") runs in `npm run test:long` alone; a test of the same kind without that tag stays in `npm test`.
 */

const isTest = (file: string) => /\.test\.tsx?$/.test(file);
const testFiles = () => sourceFiles(".").filter(isTest);
const textOf = (file: string) => readFileSync(file, "utf8");

/** Lists the test files that `npm test` leaves out as a whole. */
export const longFiles = (): string[] =>
  testFiles().filter((file) => textOf(file).startsWith("/** @module-tag long */"));

/** Lists the test files that the long run takes as a whole, and those of which it takes only the tests with the tag. */
export function longTests(): { whole: string[]; tagged: string[] } {
  const { importedBy } = openImports(".");
  const long = new Set(longFiles());
  const isWhole = (file: string) => long.has(file) || importedBy(file).has("testing/campaign.ts");
  const whole = testFiles().filter(isWhole);
  const tagged = testFiles().filter((file) => !isWhole(file) && /\btags: "long"/.test(textOf(file)));
  return { whole, tagged };
}

/** Pattern for Playwright's --grep: the specs that the long run does in full, and those that it alone does. */
export const LONG_SPECS = "@(full|long)\\b";
