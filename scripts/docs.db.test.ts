import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "@/scripts/admin/command";
import { sourceFiles } from "@/scripts/test/imports";
import { Scope } from "@/server/contract/organizations";
import { ERRORS } from "@/server/platform/errors/errors";
import { ALL_SETTINGS } from "@/server/start-up";
import { anchorsOf, linksOf, type Page, pageAt, pagesUnder } from "@/testing/docs";

const { version, scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const docs = pagesUnder("docs");
const atRoot = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "bench/README.md",
  "clients/python/README.md",
  "clients/typescript/README.md",
].map(pageAt);
const pages = [...atRoot, ...docs];

/** Faults of a link: none, a missing file, or a heading that its page does not have. */
function faultOf(page: Page, target: string): string[] {
  if (/^(https?:|mailto:)/.test(target)) return [];
  const [file = "", anchor] = target.split("#");
  const path = join(dirname(page.path), file);
  if (file !== "" && !existsSync(path)) return [`${page.path}: ${target} does not exist`];
  if (anchor === undefined) return [];
  const anchors = anchorsOf(file === "" ? page : pageAt(path));
  return anchors.has(anchor) ? [] : [`${page.path}: ${target} has no such heading`];
}

test("every link between documents leads to a file and a heading that exist", () => {
  expect(pages.flatMap((page) => linksOf(page).map((target) => faultOf(page, target))).flat()).toEqual([]);
});

test("a link to a missing file or heading is found", () => {
  const page = { path: "docs/x.md", text: "# One\n\n[a](../README.md) [b](y.md) [c](#one) [d](#two)\n" };
  expect(linksOf(page).flatMap((target) => faultOf(page, target))).toEqual([
    "docs/x.md: y.md does not exist",
    "docs/x.md: #two has no such heading",
  ]);
});

test("every page ends with the version it was tried with", () => {
  const untried = docs.filter(({ text }) => !text.trimEnd().endsWith(`\nTried with Capstan ${version}.`));
  expect(untried.map(({ path }) => path)).toEqual([]);
});

test("the index names every page", () => {
  const listed = new Set(linksOf(pageAt("docs/README.md")).map((target) => join("docs", target)));
  expect(
    docs.map(({ path }) => path).filter((path) => path !== "docs/README.md" && !listed.has(path)),
  ).toEqual([]);
});

/** The names that each page explains: each needs a table row that begins with the name and has more text. */
const EXPLAINED: { page: string; names: string[] }[] = [
  { page: "docs/reference/settings.md", names: [...new Set(ALL_SETTINGS)] },
  { page: "docs/reference/errors.md", names: Object.keys(ERRORS) },
  { page: "docs/reference/scopes.md", names: [...Scope.options] },
];

test.each(EXPLAINED)("$page explains every name", ({ page, names }) => {
  const { text } = pageAt(page);
  const isExplained = (name: string) => new RegExp(`^\\| \`${name}\` \\|.*[a-z]{3}.*\\|$`, "m").test(text);
  expect(names.filter((name) => !isExplained(name))).toEqual([]);
});

/** The commands `npm run …` that a page names, to the end of the line or of the code in a sentence. */
const commandsOf = ({ text }: Page) =>
  [...text.matchAll(/(?<!<!--.*)npm run (?:-[^\s`]+ )*([a-z]\w*(?::\w+)*)([^\n`#|]*)/g)].map(
    ([whole, script = "", rest = ""]) => ({
      whole,
      script,
      rest,
    }),
  );

/** The fault in the arguments of `npm run admin`: an unknown command or flag; null if there is none. */
function adminFaultOf(rest: string): string | null {
  const words = /^ -- ((?:[a-z][a-z-]*(?: |$))+)/.exec(rest)?.[1]?.trim().split(" ") ?? [];
  if (words.length === 0) return null;
  const named = words.join(" ");
  const names = Object.keys(COMMANDS);
  const command = names.find((name) => `${named} `.startsWith(`${name} `));
  if (!command) return names.some((name) => name.startsWith(`${named} `)) ? null : "no such command";
  const flags = [...rest.slice(4).matchAll(/(?:^| )--([a-z][a-z-]*)/g)].map(([, flag = ""]) => flag);
  const known: readonly string[] = [...(COMMANDS[command] ?? []), "json", "help"];
  const foreign = flags.filter((flag) => !known.includes(flag));
  return foreign.length > 0 ? `no flag ${foreign.join(", ")}` : null;
}

test("every npm script and admin command that a document names exists", () => {
  const faults = pages
    .filter(({ path }) => path !== "CHANGELOG.md")
    .flatMap((page) =>
      commandsOf(page).flatMap(({ whole, script, rest }) => {
        const fault = !(script in scripts)
          ? "no such script"
          : script === "admin"
            ? adminFaultOf(rest)
            : null;
        return fault ? [`${page.path}: ${whole}: ${fault}`] : [];
      }),
    );
  expect(faults).toEqual([]);
  expect(adminFaultOf(" -- key remove --key x")).toBe("no such command");
  expect(adminFaultOf(" -- key revoke --name x")).toBe("no flag name");
});

test("a document that shows --json calls npm with -s, which keeps npm's own line out of the output", () => {
  const loud = (page: Page) =>
    commandsOf(page).filter(({ whole }) => / --json\b/.test(whole) && !/^npm run (-s|--silent) /.test(whole));
  expect(pages.flatMap((page) => loud(page).map(({ whole }) => `${page.path}: ${whole}`))).toEqual([]);
  expect(loud({ path: "x.md", text: "npm run admin -- key list --json" })).toHaveLength(1);
});

test("every page that a comment cites exists", () => {
  const cited = sourceFiles(process.cwd()).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^.*(?:\/\/|\*|--).*\b(docs\/(?!index)[\w\-/]+\.md)\b/gm)]
      .filter(([line]) => !line.includes("https://"))
      .map(([, page]) => ({ file, page: page! })),
  );
  expect(cited.length).toBeGreaterThan(3);
  expect(cited.filter(({ page }) => !existsSync(page))).toEqual([]);
});

test("every path of the repository that the architecture names exists", () => {
  const named = pages
    .filter(({ path }) => path === "ARCHITECTURE.md" || path.startsWith("docs/architecture/"))
    .flatMap(({ path, text }) =>
      [
        ...text.matchAll(/`((?:app|components|server|inngest|prisma|scripts|testing|e2e)\/[\w\-./()[\]]+)`/g),
      ].map(([, target]) => ({ path, target: target! })),
    );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ target }) => !existsSync(target))).toEqual([]);
});

/** The paths that a tree of folders names: below their folder by indentation, several on a line, up to the first two spaces. */
function pathsOfTree(tree: string): string[] {
  const above: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const depth = (line.length - line.trimStart().length) / 2;
    const [names = ""] = line.trim().split("  ");
    const inside = above.slice(0, depth).join("");
    const paths = names.split(" ").map((name) => name.split("<")[0] ?? "");
    above[depth] = paths[0] ?? "";
    return paths.map((path) => inside + path);
  });
}

test("every path of the tree in ARCHITECTURE.md exists, and every folder of server is in the tree", () => {
  const { text } = pageAt("ARCHITECTURE.md");
  expect(text.split("\n").length).toBeLessThanOrEqual(151);
  const paths = pathsOfTree(/^## Tree\n\n```\n(.*?)\n```/ms.exec(text)?.[1] ?? "");
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  const folders = readdirSync("server", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const named = new Set(paths.flatMap((path) => path.split("/")));
  expect(folders.map(({ name }) => name).filter((name) => name !== "generated" && !named.has(name))).toEqual(
    [],
  );
  expect(pathsOfTree("a/\n  b/<noun>.ts  x\n    c/ d.ts  y")).toEqual(["a/", "a/b/", "a/b/c/", "a/b/d.ts"]);
});

test("every file that the path of an execution names exists", () => {
  const { text } = pageAt("docs/architecture/execution.md");
  const [, steps = ""] = /^## From submit.*?\n(.*?)^## /ms.exec(text) ?? [];
  const named = [...steps.matchAll(/`([\w/-]+)`/g)]
    .map(([, name]) => name!)
    .filter((name) => !/^[A-Z]/.test(name));
  const files = readdirSync("server/domain", { recursive: true, encoding: "utf8" });
  const isFile = (name: string) =>
    files.some((file) => file === name || `/${file}`.endsWith(`/${name}.ts`) || file.endsWith(`/${name}`));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !name.startsWith("server/") && !isFile(name))).toEqual([]);
});
