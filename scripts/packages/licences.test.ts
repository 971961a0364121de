import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { licencesPage, PAGE, productionPackages } from "./licences";
import { billOfMaterials } from "./sbom";

test("docs/licences.md lists the packages of the lock file: `npm run licences` after a change", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(licencesPage());
});

test("no package is under the GPL, AGPL, SSPL or BUSL, or unlicensed", () => {
  const forbidden = productionPackages().filter(({ licence }) =>
    /\b(A?GPL|SSPL|BUSL|UNLICENSED)\b/.test(licence),
  );
  expect(forbidden).toEqual([]);
});

test("the bill of materials has each package once, with a SHA-512 checksum", () => {
  const { components } = billOfMaterials();
  expect(new Set(components.map(({ purl }) => purl)).size).toBe(productionPackages().length);
  expect(
    components.flatMap(({ hashes }) => hashes).filter(({ content }) => !/^[0-9a-f]{128}$/.test(content)),
  ).toEqual([]);
  expect(components.find(({ name }) => name === "@trpc/server")?.purl).toMatch(
    /^pkg:npm\/%40trpc\/server@\d/,
  );
});

test("the text of each LGPL version that docs/licences.md names is in licences, which the image copies", () => {
  const versions = [...readFileSync(PAGE, "utf8").matchAll(/\bLGPL-(\d\.\d)/g)].map(([name]) => name);
  expect(new Set(versions)).toEqual(new Set(["LGPL-2.0", "LGPL-3.0"]));
  for (const name of versions)
    expect(readFileSync(`licences/${name}.txt`, "utf8")).toMatch(
      /^\s+GNU (LESSER|LIBRARY) GENERAL PUBLIC LICENSE/,
    );
  expect(readFileSync("Dockerfile", "utf8")).toContain("COPY --from=build /app/licences ./licences\n");
});
