import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vitest/node";
import { openImports, sourceFiles } from "./imports";

/**
 * Uses of a piece (a top-level declaration) of a file: names of other files ("*" for all of them), files that it names in a
 * string, and pieces of its own file.
 */
type Uses = { names: [file: string, name: string][]; programs: string[]; own: string[] };
type Source = {
  pieces: Map<string, Uses>;
  /** Statements that run when the file is loaded. */
  loading: Uses;
  hasLoading: boolean;
  loads: string[];
  /** Maps an exported name to a piece of this file or to a name of another. */
  exports: Map<string, { piece: string } | { file: string; name: string }>;
  starred: string[];
};

/**
 * Finds which files use which exports of others: a test that imports one function of an index does not reach the other functions
 * of the index, although their files are loaded with it. Statements that run on load are used by every file that loads theirs;
 * types do not count.
 */
export function openReach(root: string) {
  const files = sourceFiles(root).filter((file) => !/\bgenerated\/|\.gen\.ts$/.test(file)); // generated files use nothing of ours
  const { find: look } = openImports(root);
  // Maps what is used to what uses it: pieces (file#piece), exported names (file:name), and files that are loaded (file) or used
  // as a whole (file#).
  const users = new Map<string, Set<string>>();
  const link = (used: string, user: string) => {
    const there = users.get(used);
    if (there) there.add(user);
    else users.set(used, new Set([user]));
  };
  const linkUses = (user: string, file: string, uses: Uses) => {
    for (const own of uses.own) link(`${file}#${own}`, user);
    for (const [target, name] of uses.names) link(`${target}:${name}`, user);
    for (const program of uses.programs) link(`${program}#`, user);
  };
  const ownNames = new Map<string, Source["exports"]>();
  const starred: [file: string, target: string][] = [];

  for (const file of files) {
    const source = readSource(file, readFileSync(join(root, file), "utf8"), look);
    link(file, `${file}#`);
    link(`${file}:*`, `${file}#`);
    linkUses(file, file, source.loading);
    for (const each of source.loads) link(each, file);
    for (const [piece, uses] of source.pieces) {
      link(`${file}#${piece}`, `${file}#`);
      link(file, `${file}#${piece}`);
      linkUses(`${file}#${piece}`, file, uses);
    }
    for (const [name, what] of source.exports) {
      const used = "piece" in what ? `${file}#${what.piece}` : `${what.file}:${what.name}`;
      link(used, `${file}:${name}`);
      link(`${file}:${name}`, `${file}:*`);
    }
    ownNames.set(file, source.exports);
    for (const each of source.starred) starred.push([file, each]);
    if (source.hasLoading) link(`${file}!`, file);
  }
  for (const [file, target] of starred) {
    for (const key of [...users.keys(), `${file}:*`]) {
      const name = key.startsWith(`${file}:`) && key.slice(file.length + 1);
      if (name && !ownNames.get(file)?.has(name)) link(`${target}:${name}`, key);
    }
  }

  /**
   * Returns the files that use something of this one, itself included; a user that `ends` is included but not followed further.
   */
  function usersOf(file: string, ends: (user: string) => boolean = () => false): Set<string> {
    const seen = new Set([`${file}#`, `${file}:*`]);
    for (const key of users.keys())
      if (/^[#:!]/.test(key.slice(file.length)) && key.startsWith(file)) seen.add(key);
    for (const key of seen)
      if (fileOf(key) === file || !ends(fileOf(key))) for (const user of users.get(key) ?? []) seen.add(user);
    return new Set([...seen].map(fileOf));
  }
  return { usersOf };
}

const fileOf = (key: string) => key.replace(/[#:!].*$/s, "");

type Look = (from: string, text: string) => string | undefined;
/** Node of the syntax tree (ESTree, with TypeScript's own kinds). */
type Node = { type: string; [key: string]: unknown };
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const nameOf = (node: unknown): string => (isNode(node) ? String(node.name ?? node.value) : "");
const isOfTypes = ({ importKind, exportKind }: Node) => importKind === "type" || exportKind === "type";

function readSource(file: string, text: string, look: Look): Source {
  const tree: unknown = parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" });
  if (!isNode(tree)) throw new Error(`${file} has no syntax tree`);
  const source: Source = {
    pieces: new Map(),
    loading: { names: [], programs: [], own: [] },
    hasLoading: false,
    loads: [],
    exports: new Map(),
    starred: [],
  };
  const imported = new Map<string, { file: string; name: string }>();
  const declared: { names: string[]; node: Node }[] = [];
  const rest: Node[] = [];

  for (const statement of nodesOf(tree.body)) {
    const target = isNode(statement.source) ? look(file, nameOf(statement.source)) : undefined;
    if (isOfTypes(statement) || (statement.source && !target)) continue;
    if (target) source.loads.push(target);
    if (statement.type === "ImportDeclaration") {
      for (const each of nodesOf(statement.specifiers)) {
        if (isOfTypes(each) || !target) continue;
        const names = { ImportNamespaceSpecifier: "*", ImportDefaultSpecifier: "default" };
        const name = names[each.type as keyof typeof names] ?? nameOf(each.imported);
        imported.set(nameOf(each.local), { file: target, name });
      }
    } else if (statement.type === "ExportAllDeclaration" && target) {
      if (statement.exported) source.exports.set(nameOf(statement.exported), { file: target, name: "*" });
      else source.starred.push(target);
    } else if (statement.type === "ExportDefaultDeclaration") {
      declare(statement.declaration as Node, ["default"]);
    } else if (isNode(statement.declaration)) {
      for (const name of declare(statement.declaration)) source.exports.set(name, { piece: name });
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const each of nodesOf(statement.specifiers)) {
        if (isOfTypes(each)) continue;
        const name = nameOf(each.local);
        const there = target ? { file: target, name } : imported.get(name);
        source.exports.set(nameOf(each.exported), there ?? { piece: name });
      }
    } else if (/^(Variable|Function|Class|TSEnum)Declaration$/.test(statement.type)) declare(statement);
    else if (!/^TS(Interface|TypeAlias)Declaration$/.test(statement.type)) rest.push(statement);
  }
  if (declared.some(({ names }) => names.includes("default")))
    source.exports.set("default", { piece: "default" });

  const own = new Set(declared.flatMap(({ names }) => names));
  for (const { names, node } of declared) {
    const uses = usesOf(node);
    for (const name of names) source.pieces.set(name, uses);
  }
  source.hasLoading = rest.length > 0;
  for (const statement of rest) {
    const { names, programs, own: pieces } = usesOf(statement);
    source.loading.names.push(...names);
    source.loading.programs.push(...programs);
    source.loading.own.push(...pieces);
  }
  return source;

  function declare(node: Node, more: string[] = []): string[] {
    if (/^TS(Interface|TypeAlias)Declaration$/.test(node.type)) return [];
    const pieces = node.type === "VariableDeclaration" ? nodesOf(node.declarations) : [node];
    return pieces.flatMap((each) => {
      const names = [...(isNode(each.id) ? boundNames(each.id) : []), ...more];
      declared.push({ names, node: each });
      return names;
    });
  }

  function usesOf(node: Node): Uses {
    const uses: Uses = { names: [], programs: [], own: [] };
    const noteName = (name: string, member?: string) => {
      const there = imported.get(name);
      if (there) uses.names.push([there.file, (there.name === "*" && member) || there.name]);
      else if (own.has(name)) uses.own.push(name);
    };
    const noteText = (value: string, isCalled: boolean) => {
      if (!/^[\w@./[\]()-]*[./][\w@./[\]()-]*$/.test(value)) return;
      const target = look(file, value);
      if (target && isCalled) uses.names.push([target, "*"]);
      if (target && /\.\w+$/.test(value)) uses.programs.push(target);
    };
    const visit = (at: Node): void => {
      const { object, property, value } = at;
      if (/^TSType(Annotation|ParameterInstantiation|ParameterDeclaration)$|^TemplateElement$/.test(at.type))
        return;
      if (/^(JSX)?Identifier$/.test(at.type)) noteName(nameOf(at));
      else if (at.type === "Literal" && typeof value === "string") noteText(value, false);
      else if (at.type === "ImportExpression" && isNode(at.source)) noteText(nameOf(at.source), true);
      else if (/^(JSX)?MemberExpression$/.test(at.type) && isNode(object) && !at.computed) {
        if (/Identifier$/.test(object.type)) noteName(nameOf(object), nameOf(property));
        else visit(object);
      } else if (at.type === "Property" && isNode(value) && !at.computed) visit(value);
      else {
        for (const key in at) {
          const inside = at[key];
          if (isNode(inside)) visit(inside);
          else if (Array.isArray(inside)) for (const each of inside) if (isNode(each)) visit(each);
        }
      }
    };
    visit(node);
    return uses;
  }
}

/** Collects the names that a declaration binds, those of its pattern included. */
function boundNames(node: Node): string[] {
  if (node.type === "Identifier") return [nameOf(node)];
  const inside = [...nodesOf(node.properties), ...nodesOf(node.elements)];
  return [...inside, node.value, node.argument, node.left].filter(isNode).flatMap((each) => boundNames(each));
}
