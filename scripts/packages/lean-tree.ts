import { readdirSync, readFileSync } from "node:fs";

/* Lists the packages of an installation, from package-lock.json, and those that a build puts into the pages. */

type Entry = {
  version: string;
  integrity: string;
  name?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};
type Packages = Record<string, Entry>;

/** The packages of a lock file by their paths; the root is "". */
export const readLock = (): Packages => JSON.parse(readFileSync("package-lock.json", "utf8")).packages;

/** The name of the package at a path of the lock file; an alias has the name of the package behind it. */
export const packageName = (path: string, { name }: Entry): string =>
  name ?? path.replace(/^.*node_modules\//, "");

/** The name of the package that a module specifier belongs to; null for files and for Node's own modules. */
export function packageOf(specifier: string): string | null {
  if (/^([./]|node:|@\/)/.test(specifier)) return null;
  const [scope = "", name = ""] = specifier.split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"([^"]+)"/g;

/** The devDependencies that pages import: their code is part of what the browser gets. */
export function bundledPackages(): string[] {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const files = ["app", "components", "server/trpc", "server/auth"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const found = files
    .filter((file) => /\.(tsx?|css)$/.test(file) && !/\.test\./.test(file))
    .flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, from = ""]) => packageOf(from)),
    );
  return [...new Set(found)].filter((name) => name !== null && name in devDependencies) as string[];
}

/** The paths of these packages and of everything that they depend on, optional packages included. */
export function closureOf(packages: Packages, names: string[]): Set<string> {
  const found = new Set<string>();
  const add = (from: string, name: string) => {
    const path = placeOf(packages, from, name);
    const entry = path ? packages[path] : undefined;
    if (!path || !entry || found.has(path)) return;
    found.add(path);
    for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) add(path, next);
  };
  for (const name of names) add("", name);
  return found;
}

/** Path at which Node finds a package that the package at `from` imports; null if there is none. */
function placeOf(packages: Packages, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder}${folder && "/"}node_modules/${name}`;
    if (path in packages) return path;
    if (folder === "") return null;
  }
}
