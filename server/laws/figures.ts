import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openImports, sourceFiles } from "@/scripts/test/imports";
import { isTest } from "./sources.fixture";

const NOUNS = ["executions", "jobs", "pins"].map((noun) => `server/domain/${noun}/`);
/** Every type that says how a call or an execution ends contains one of these. */
const ROOTS = ["OutcomeKind", "Settlement", "SubmissionState"];
/** The members of the union `CallOutcome` count with it. */
const UNION = "CallOutcome";

type Declared = { file: string; name: string; body: string };
/** Maps the names that a file imports to the file, or the noun with its slash, that declares them. */
type Imported = Map<string, string>;

/** Lists the type declarations of a text, each with what follows its name. */
export function typesOf(file: string, text: string): Declared[] {
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  const found = bare.matchAll(/^(?:export )?type (\w+)\b((?:[^;]|;(?!\s*?\n(?:\S|\n|$)))*;)/gm);
  return [...found].map(([, name = "", body = ""]) => ({ file, name, body }));
}

/**
 * Lists the types that contain a root, directly or through other types of these files. A name means the type
 * of its own file, or the one that the file imports.
 */
export function typesOfEnds(declared: Declared[], importedBy: (file: string) => Imported): Declared[] {
  const ends = new Set<Declared>();
  const isEnd = ({ file, body, name }: Declared): boolean =>
    [...new Set(body.match(/\b[A-Z]\w+/g))].some((word) => {
      if (word === name) return false;
      const own = declared.find((each) => each.file === file && each.name === word);
      if (own) return ends.has(own);
      const from = importedBy(file).get(word);
      if (from === undefined) return false;
      if (ROOTS.includes(word)) return true;
      return [...ends].some(
        (each) => each.name === word && (each.file === from || each.file.startsWith(from)),
      );
    });
  for (let count = -1; count < ends.size; ) {
    count = ends.size;
    for (const each of declared) if (!ends.has(each) && isEnd(each)) ends.add(each);
  }
  const union = [...ends].find(({ name }) => name === UNION)?.body ?? "";
  return [...ends].filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(union));
}

/** Reads the figures of the core, jobs and pins: their files, their lines and their types of ends. */
export function figuresOfExecutions(root: string) {
  const files = sourceFiles(root).filter(
    (file) => NOUNS.some((noun) => file.startsWith(noun)) && !isTest(file) && !file.includes("/testing/"),
  );
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const { find } = openImports(root);
  const importedBy = (file: string): Imported => {
    const found = (texts.get(file) ?? "").matchAll(/^import (?:type )?\{([^}]*)\} from "([^"]+)";/gm);
    return new Map(
      [...found].flatMap(([, names = "", from = ""]) =>
        names.split(",").map((name) => {
          const target = find(file, from) ?? "";
          return [name.replace("type ", "").trim(), target.replace(/index\.ts$/, "")] as const;
        }),
      ),
    );
  };
  const declared = [...texts].flatMap(([file, text]) => typesOf(file, text));
  return {
    files: files.length,
    lines: [...texts.values()].reduce((sum, text) => sum + text.split("\n").length - 1, 0),
    ends: typesOfEnds(declared, importedBy).map(({ file, name }) => `${name} (${file})`),
  };
}
