import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { releaseOf } from "./release";

const settings = { image: "registry.example/team/capstan", npmScope: "@example" };
const changelog =
  "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-12-01\n\n### Fixed\n\n- One thing.\n\n## 1.2.2 - 2026-11-01\n\n- Older.\n";
const release = { tag: "v1.2.3", version: "1.2.3", settings, changelog };

test("a release has the version's own changelog section and the places of the settings", () => {
  expect(releaseOf(release)).toEqual({
    version: "1.2.3",
    image: "registry.example/team/capstan",
    registry: "registry.example",
    client: "@example/client",
    notes: "### Fixed\n\n- One thing.",
  });
});

test("a release is refused with empty settings, another tag, or no dated section", () => {
  const refused = (changes: Partial<typeof release>) => () => releaseOf({ ...release, ...changes });
  expect(refused({ settings: { image: "", npmScope: " " } })).toThrow(/no value for image and npmScope/);
  expect(refused({ tag: "v1.2.4" })).toThrow(/v1\.2\.4 is not v1\.2\.3/);
  expect(refused({ tag: "v1.2.4", version: "1.2.4" })).toThrow(/no section "## 1\.2\.4 - <date>"/);
  expect(refused({ changelog: "## 1.2.3\n\n- Without a date.\n" })).toThrow(/no section/);
  expect(refused({ changelog: "## 1.2.3 - 2026-12-01\n\n## 1.2.2 - 2026-11-01\n\n- Older.\n" })).toThrow(
    /no section/,
  );
});

test("the release settings of this repository are empty, so that its workflow refuses", () => {
  const own: typeof settings = JSON.parse(readFileSync(".github/release.json", "utf8"));
  expect(() => releaseOf({ ...release, settings: own })).toThrow(/no value for image and npmScope/);
});
