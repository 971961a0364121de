import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endpoints } from "..";
import { answersOf, casesOf, nameOf, PARTS, partNames, TOGETHER } from "./parts.fixture";

/*
 * Each part's file checks the cases of its part. This file checks that the parts together cover all endpoints and statuses.
 */

test("every endpoint belongs to one part", () => {
  const ofParts = Object.values(PARTS).flat().map(nameOf);
  expect(ofParts.toSorted()).toEqual(endpoints.map(nameOf).toSorted());
});

test("every status and code of every endpoint is a case of one part", () => {
  const all = endpoints.flatMap((endpoint) =>
    answersOf(endpoint).map((answer) => `${nameOf(endpoint)} ${answer}`),
  );
  expect(partNames.flatMap(casesOf).toSorted()).toEqual(all.toSorted());
});

test("a case that another part has is one that the endpoint can return", () => {
  const strange = TOGETHER.flatMap(({ answers, of }) =>
    of.filter((endpoint) => !answers.some((answer) => answersOf(endpoint).includes(answer))).map(nameOf),
  );
  expect(strange).toEqual([]);
});

test("every part has a file that calls its endpoints and ends with its law", () => {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".db.test.ts"));
  expect(files.toSorted()).toEqual([...partNames, "parts"].map((part) => `${part}.db.test.ts`).toSorted());
  for (const part of partNames) {
    const text = readFileSync(join(import.meta.dirname, `${part}.db.test.ts`), "utf8");
    expect(text).toContain(`\neveryEndpoint("${part}", {`);
    expect(text.endsWith(`\n\neveryStatusHasACase("${part}");\n`), `${part} ends with its law`).toBe(true);
  }
});
