import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OUTCOMES_PAGE, outcomesTable, withOutcomes } from "./outcomes-page";

const page = readFileSync(join(import.meta.dirname, "../..", OUTCOMES_PAGE), "utf8");

test("the page of outcomes has the table of the code, as npm run generate writes it", () => {
  expect(page).toBe(withOutcomes(page));
});

test("a changed cell of the page is found", () => {
  const [line = ""] = outcomesTable().match(/^.*`PROVIDER_ERROR`.*settled.*$/m) ?? [];
  const changed = page.replace(line, line.replace("settled", "released"));
  expect(changed).not.toBe(page);
  expect(withOutcomes(changed)).toBe(page);
});
