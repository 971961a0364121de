import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

/* Node 24 runs this without a build or packages: `node scripts/release.ts v1.2.3 --notes FILE`, the first step of the release workflow. */

export type ReleaseSettings = { image: string; npmScope: string };

/**
 * Returns what a tag releases, from package.json's version, .github/release.json and the changelog. Throws an error with a
 * sentence for each reason not to release: empty settings, a tag that is not the version, or a changelog without a dated section
 * for it.
 */
export function releaseOf(of: {
  tag: string;
  version: string;
  settings: ReleaseSettings;
  changelog: string;
}) {
  const { version, settings } = of;
  const missing = Object.entries(settings).flatMap(([name, value]) => (value.trim() === "" ? [name] : []));
  const faults: string[] = [];
  if (missing.length > 0)
    faults.push(
      `.github/release.json has no value for ${missing.join(" and ")}. Set them to places that you own.`,
    );
  if (of.tag !== `v${version}`)
    faults.push(`The tag ${of.tag} is not v${version}, the version of package.json.`);
  const notes = sectionOf(of.changelog, version);
  if (!notes) faults.push(`CHANGELOG.md has no section "## ${version} - <date>" with entries.`);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return {
    version,
    image: settings.image,
    registry: settings.image.split("/")[0]!,
    client: `${settings.npmScope}/client`,
    notes: notes!,
  };
}

/** The entries of a version; undefined when it is missing, has no date or is empty. */
function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m);
  const own = sections.find((text) =>
    new RegExp(`^## ${version.replaceAll(".", "\\.")} - \\d{4}-\\d\\d-\\d\\d\\n`).test(text),
  );
  return own?.replace(/^.*\n/, "").trim() || undefined;
}

if (process.argv[1]?.endsWith("release.ts")) {
  const { values, positionals } = parseArgs({
    options: { notes: { type: "string" } },
    allowPositionals: true,
  });
  try {
    const { notes, ...outputs } = releaseOf({
      tag: positionals[0] ?? "",
      version: JSON.parse(readFileSync("package.json", "utf8")).version,
      settings: JSON.parse(readFileSync(".github/release.json", "utf8")),
      changelog: readFileSync("CHANGELOG.md", "utf8"),
    });
    if (values.notes) writeFileSync(values.notes, `${notes}\n`);
    for (const [name, value] of Object.entries(outputs)) console.log(`${name}=${value}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
