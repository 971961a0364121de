import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const FOLDERS = [
  "app",
  "bench",
  "clients",
  "components",
  "e2e",
  "inngest",
  "prisma",
  "scripts",
  "server",
  "testing",
];
const SKIPPED = /^(node_modules|dist|peers|\.\w+)$/;
const STATEMENT = /^[ \t]*(?:import|export)\s+(type\s)?(?:[^;"]*?\sfrom\s+)?"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"/g;

/** Lists every TypeScript file of the repository's source folders, as paths from its root. */
export function sourceFiles(root: string): string[] {
  return FOLDERS.flatMap((folder) => filesUnder(root, folder)).filter((file) => /\.tsx?$/.test(file));
}

function filesUnder(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.test(entry.name) ? [] : filesUnder(root, path);
    return [path];
  });
}

/** Reads which files of the repository load which others; imports of types alone do not count. */
export function openImports(root: string) {
  const known = new Set(FOLDERS.flatMap((folder) => filesUnder(root, folder)));
  const read = new Map<string, string[]>();

  /** Resolves an import specifier or a path that appears in a file: one path, or none. */
  function find(file: string, text: string): string[] {
    const nearby = posix.join(posix.dirname(file), text);
    const candidates = text.startsWith("@/")
      ? [text.slice(2)]
      : text.startsWith(".")
        ? [nearby]
        : [text, nearby];
    const paths = candidates.flatMap((each) => ["", ".ts", ".tsx", "/index.ts"].map((end) => each + end));
    return paths.filter((path) => known.has(path)).slice(0, 1);
  }

  function importsOf(file: string): string[] {
    const before = read.get(file);
    if (before) return before;
    const imports: string[] = [];
    read.set(file, imports);
    if (!/\.[mc]?[jt]sx?$/.test(file)) return imports;
    const text = readFileSync(join(root, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, type, from = ""] of text.matchAll(STATEMENT)) if (!type) imports.push(...find(file, from));
    for (const [, from = ""] of text.matchAll(DYNAMIC)) imports.push(...find(file, from));
    return imports;
  }

  return {
    /** Finds the file that an import or a path in another file refers to; undefined if it is no file of the source folders. */
    find: (file: string, text: string): string | undefined => find(file, text)[0],
    /** Collects all files that are loaded with this one, itself included. */
    importedBy(entry: string): Set<string> {
      const found = new Set([entry]);
      for (const file of found) for (const target of importsOf(file)) found.add(target);
      return found;
    },
  };
}
