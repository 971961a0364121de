import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ts } from "@ts-morph/common";

/* Prints an empty sheet of comments and test names for a review: `node testing/reviews/draw.mjs SEED [COMMENTS] [NAMES]`. */

/** Folders with code of the product, its clients and its tests. Applied migrations keep their comments, and so do recorded answers. */
const FOLDERS =
  /^(app|components|e2e|inngest|prisma\/(?!migrations)|scripts|server|testing|bench|clients\/typescript\/src)\//;
/** Files of programs, without those that a program writes. */
const SOURCE = /(?<!\.gen)\.(tsx?|mjs)$/;
/** Comments for tools, and lines that only separate. */
const NOT_PROSE = /^(@ts-|biome-ignore|-{3,})/;
const { SyntaxKind } = ts;

/** Every token of a syntax tree, in order. The trees of documentation comments are left out. */
function* tokensOf(node, tree) {
  if (node.kind >= SyntaxKind.FirstJSDocNode && node.kind <= SyntaxKind.LastJSDocNode) return;
  const children = node.getChildren(tree);
  if (children.length === 0) yield node;
  for (const child of children) yield* tokensOf(child, tree);
}

/** The comments between tokens, as `{ line, text }`. Lines of `//` one below the other are one comment. */
function commentsOf(tree) {
  const found = [];
  for (const token of tokensOf(tree, tree)) {
    if (token.kind === SyntaxKind.JsxText) continue;
    const start = token.pos === 0 ? "\n" : "";
    const between = start + tree.text.slice(token.pos, token.getStart(tree, false));
    for (const { 0: text, index } of between.matchAll(
      /(?<=\n)[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|\/\/.*|\/\*[\s\S]*?\*\//g,
    ))
      found.push({
        line: lineAt(tree, token.pos - start.length + index + text.search(/\S/)),
        text: text
          .replaceAll(/^[ \t]*(\/\/+|\/?\*+\/?)|\*\/$/gm, "")
          .replaceAll(/\s+/g, " ")
          .trim(),
      });
  }
  return found.filter(({ text }) => text && !NOT_PROSE.test(text));
}

/** The names that `test`, `it` and `describe` get, as `{ line, text }`. */
function namesOf(tree) {
  const found = [];
  const visit = (node) => {
    const [name] = ts.isCallExpression(node) ? node.arguments : [];
    if (name && (ts.isStringLiteralLike(name) || ts.isTemplateExpression(name)) && isTest(node.expression))
      found.push({ line: lineAt(tree, name.getStart(tree)), text: name.getText(tree).slice(1, -1) });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const isTest = (called) =>
  ts.isIdentifier(called)
    ? ["test", "it", "describe"].includes(called.text)
    : "expression" in called && isTest(called.expression);
const lineAt = (tree, position) => tree.getLineAndCharacterOfPosition(position).line + 1;

/** Random numbers from 0 to 1 that depend only on the seed (the constants are those of Numerical Recipes). */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Draws without repetition; the result keeps the order of the items. */
function draw(items, count, random) {
  const keys = items.map((_, place) => ({ place, key: random() })).sort((a, b) => a.key - b.key);
  const places = keys.slice(0, count).map(({ place }) => place);
  return places.sort((a, b) => a - b).map((place) => items[place]);
}

const [seed, comments = 300, names = 100] = process.argv.slice(2).map(Number);
const files = execFileSync("git", ["ls-files"], { encoding: "utf8" })
  .split("\n")
  .filter((file) => FOLDERS.test(file) && SOURCE.test(file))
  .sort();
const all = { comments: [], names: [] };
for (const file of files) {
  const tree = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  all.comments.push(...commentsOf(tree).map((each) => ({ file, ...each })));
  all.names.push(...namesOf(tree).map((each) => ({ file, ...each })));
}
const random = randomOf(seed);
const rows = (items, question) => [
  `| | place | text | clear, 1st | ${question}, 1st | clear, 2nd | ${question}, 2nd |`,
  "|--:|---|---|---|---|---|---|",
  ...items.map(
    ({ file, line, text }, place) =>
      `| ${place + 1} | ${file}:${line} | ${text.replaceAll("|", "\\|").replaceAll("<", "\\<")} | | | | |`,
  ),
];
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
console.log(
  [
    `# Sample ${seed}`,
    "",
    `Drawn by \`node testing/reviews/draw.mjs ${seed} ${comments} ${names}\` at commit ${commit}:`,
    `${comments} of ${all.comments.length} comments and ${names} of ${all.names.length} test names.`,
    "",
    "## Comments",
    "",
    ...rows(draw(all.comments, comments, random), "true"),
    "",
    "## Test names",
    "",
    ...rows(draw(all.names, names, random), "true"),
  ].join("\n"),
);
