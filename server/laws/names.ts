import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, isTest, ROOT } from "./sources.fixture";

const FOLDERS = ["clients/typescript/src", "components", "inngest", "scripts", "server"];
/** Finds exported declarations: Biome indents everything within them, so only they begin a line. */
const EXPORT =
  /^export (?:declare |abstract |async )*(?:class|const|enum|function\*?|interface|type) ([\w$]+)/gm;
const REEXPORT = /^export (?:type )?\{([^}]*)\}/gm;
const NOUN = /^server\/domain\/([\w-]+)\//;

/** Lists the names that a file exports by a declaration of its own. */
export const exportedNames = (text: string): string[] =>
  [...new Set([...text.matchAll(EXPORT)].map(([, name = ""]) => name))].filter((name) => name !== "");

/** Maps each file of the code, tests and generated files left out, to its text. */
export function codeFiles(): Map<string, string> {
  const files = FOLDERS.flatMap(filesUnder).filter((file) => !isTest(file) && !file.endsWith(".gen.ts"));
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
}

/**
 * Maps each exported name that several files declare to these files. A function that the index of a domain
 * module exports is left out: others call it with the module, such as `jobs.list`.
 */
export function sharedNames(files: Map<string, string>): Map<string, string[]> {
  const owners = new Map<string, string[]>();
  for (const [file, text] of files) {
    const verbs = verbsOf(file, files);
    for (const name of exportedNames(text))
      if (!verbs.has(name)) owners.set(name, [...(owners.get(name) ?? []), file]);
  }
  return new Map([...owners].filter(([, declaring]) => declaring.length > 1));
}

/**
 * Lists the functions that the index of a file's domain module exports. Types and constants begin with a
 * capital letter.
 */
function verbsOf(file: string, files: Map<string, string>): Set<string> {
  const index = files.get(`${NOUN.exec(file)?.[0]}index.ts`) ?? "";
  const names = [...index.matchAll(REEXPORT)].flatMap(([, list = ""]) => list.split(","));
  return new Set(names.map((name) => name.trim()).filter((name) => /^[a-z]\w*$/.test(name)));
}
