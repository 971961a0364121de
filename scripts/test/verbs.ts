import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openImports, sourceFiles } from "./imports";

const DOMAIN = "server/domain";
const INDEX = /^server\/domain\/(\w+)\/index\.ts$/;
/** Finds declarations of a file: Biome indents everything within them, so only they begin a line. */
const DECLARATION = /^(?:export )?(?:async )?(?:function\*? |const )(\w+)/gm;
const NAMES = /^(import|export) \{([^}]*)\} from "([^"]+)"/gm;
const SPACE = /^import \* as (\w+) from "([^"]+)"/gm;
const COMMENT = /^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm;
/** Finds the authorization call, and the reads of a caller's roles after which a verb refuses with a message of its own. */
const ASKS = /\b(?:access\.authorize|roleIn|visibleOrganizations)\(/;
/** Finds a call that passes the context on. */
const CALL = /\b(?:(\w+)\.)?(\w+)\(\s*(?:\w+, )?(?:ctx\b|\{ \.\.\.ctx\b|\.\.\.\w+)/g;

type Place = { file: string; name: string };
type Module = {
  /** Maps the name of each declaration to its text. */
  own: Map<string, string>;
  exported: string[];
  imported: Map<string, Place>;
  spaces: Map<string, string>;
};

export type Verb = { name: string; asks: "itself" | "by another verb" | "never" };

/**
 * Lists the verbs of the domain as `noun.name`: a noun is a folder with an index, except access, and its verbs are the exports
 * of its own files that take a `Ctx`. A verb asks what its caller may do when it reaches `access.authorize` by calls that pass
 * the context on: in its own body, in functions of the domain, or in the `finders`, verbs that others begin with. A verb that
 * asks only by another verb is listed as such, because most verbs end by reading what they changed.
 */
export function verbsOf(root: string, finders: readonly string[]): Verb[] {
  const files = sourceFiles(root).filter(
    (file) => file.startsWith(`${DOMAIN}/`) && !/\.(test|fixture)\.ts$/.test(file),
  );
  const { find } = openImports(root);
  const modules = new Map(files.map((file) => [file, read(file)]));

  function read(file: string): Module {
    const text = readFileSync(join(root, file), "utf8").replace(COMMENT, "");
    const starts = [...text.matchAll(DECLARATION)];
    const module: Module = { own: new Map(), exported: [], imported: new Map(), spaces: new Map() };
    for (const [i, { 0: head, 1: name = "", index }] of starts.entries()) {
      module.own.set(name, text.slice(index, starts[i + 1]?.index));
      if (head.startsWith("export ")) module.exported.push(name);
    }
    for (const [, kind, list = "", from = ""] of text.matchAll(NAMES)) {
      const target = find(file, from) ?? "";
      for (const each of list.split(",")) {
        const [name = "", alias = name] = each.trim().split(" as ");
        module.imported.set(alias, { file: target, name });
        if (kind === "export") module.exported.push(alias);
      }
    }
    for (const [, name = "", from = ""] of text.matchAll(SPACE))
      module.spaces.set(name, find(file, from) ?? "");
    return module;
  }

  function declared({ file, name }: Place): (Place & { text: string }) | null {
    const module = modules.get(file);
    const text = module?.own.get(name);
    if (text !== undefined) return { file, name, text };
    const next = module?.imported.get(name);
    return next ? declared(next) : null;
  }

  const indexes = files.flatMap((file) => {
    const noun = INDEX.exec(file)?.[1];
    return noun === undefined || noun === "access" ? [] : [{ file, noun }];
  });
  const verbs = indexes.flatMap(({ file, noun }) =>
    (modules.get(file)?.exported ?? []).flatMap((name) => {
      const found = declared({ file, name });
      const isOwn = found?.file.startsWith(`${DOMAIN}/${noun}/`) && /\bCtx\b/.test(signatureOf(found.text));
      return found && isOwn ? [{ verb: `${noun}.${name}`, ...found }] : [];
    }),
  );
  const verbAt = new Map(verbs.map(({ verb, file, name }) => [`${file} ${name}`, verb]));

  /** `on` holds the declarations on the way to this one. */
  function asks(
    { file, text }: Place & { text: string },
    through: readonly string[],
    on: ReadonlySet<string>,
  ): boolean {
    if (ASKS.test(text)) return true;
    const { spaces } = modules.get(file)!; // the declaration was found in one of them
    return [...text.slice(text.indexOf("(")).matchAll(CALL)].some(([, space, name = ""]) => {
      const called = declared({ file: space === undefined ? file : (spaces.get(space) ?? ""), name });
      const id = `${called?.file} ${called?.name}`;
      const verb = verbAt.get(id);
      if (!called || on.has(id) || (verb !== undefined && !through.includes(verb))) return false;
      return asks(called, through, new Set([...on, id]));
    });
  }

  const all = verbs.map(({ verb }) => verb);
  return verbs.map(({ verb, ...found }) => {
    const on = new Set([`${found.file} ${found.name}`]);
    if (asks(found, finders, on)) return { name: verb, asks: "itself" };
    return { name: verb, asks: asks(found, all, on) ? "by another verb" : "never" };
  });
}

/** Returns the text in the first parentheses of a declaration, or nothing if it has none. */
function signatureOf(text: string): string {
  const start = text.indexOf("(");
  let depth = 0;
  for (let at = start; at < text.length && start >= 0; at++) {
    if ("([{".includes(text[at] ?? "")) depth++;
    if (")]}".includes(text[at] ?? "") && --depth === 0) return text.slice(start, at);
  }
  return "";
}
