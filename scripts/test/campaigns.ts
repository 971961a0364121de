import { readFileSync } from "node:fs";
import { openImports, sourceFiles } from "./imports";

/*
 * What `npm test` runs in part and `npm run test:long` whole. Test files that use testing/campaign.ts, and tests of specs
 * with the tag "@full" (every page in both themes there), have one implementation in two sizes. Single tests with the tag
 * "long" (specs: "@long") run in `npm run test:long` alone; a test of the same kind without it stays in `npm test`.
 */

const isTest = (file: string) => /\.test\.tsx?$/.test(file);

/** The test files that run whole, and those of which only tests with the tag are to run. */
export function longTests(): { whole: string[]; tagged: string[] } {
  const { importedBy } = openImports(".");
  const files = sourceFiles(".").filter(isTest);
  const whole = files.filter((file) => importedBy(file).has("testing/campaign.ts"));
  const tagged = files.filter(
    (file) => !whole.includes(file) && /\btags: "long"/.test(readFileSync(file, "utf8")),
  );
  return { whole, tagged };
}

/** For Playwright's --grep: the tests that run whole, and those that run there alone. */
export const LONG_SPECS = "@(full|long)\\b";
