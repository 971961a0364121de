import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openImports, sourceFiles } from "@/scripts/test/imports";

/*
 * A page on the server must read everything that its parts wait for: a part that waits for anything else asks over HTTP, which
 * fails on the server, and the page answers 500.
 */

const ROOT = join(import.meta.dirname, "../..");
const OPTIONS = /\b(\w+\.\w+)\.(?:q|infiniteQ)ueryOptions\(/g;
const WAITS = /\b(?:useSuspense\w*|useLive)\(/g;
const DEPTHS: Record<string, number> = { "(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1 };

const textOf = (file: string) => readFileSync(join(ROOT, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");

/** Splits the text from here to the bracket that closes what is open, at its own commas. */
function argumentsAt(text: string, begin: number): string[] {
  const found = [""];
  let depth = 0;
  for (const letter of text.slice(begin)) {
    depth += DEPTHS[letter] ?? 0;
    if (depth < 0) break;
    if (letter === "," && depth === 0) found.push("");
    else found.push(`${found.pop()}${letter}`);
  }
  return found.map((part) => part.trim()).filter((part) => part !== "");
}

/** The form of an input, the same wherever it is written: the names of its fields, or the function that makes it. */
function formOf(input: string, text: string): string {
  if (input.startsWith("{")) {
    const fields = argumentsAt(input, 1);
    const names = fields.flatMap((field) =>
      field.startsWith("...") ? formOf(field.slice(3), text).split(" ") : (field.split(":")[0] ?? ""),
    );
    return names.sort().join(" ");
  }
  const maker = /^\w+(?=\()/.exec(input)?.[0];
  if (maker) return `${maker}()`;
  const constant = new RegExp(`const ${input} = (\\{[^}]*\\})`).exec(text)?.[1];
  return constant ? formOf(constant, text) : input;
}

/** Lists the queries whose options a part of a file makes: the procedure and the form of its input. */
const queriesIn = (part: string, text: string): string[] =>
  [...part.matchAll(OPTIONS)].map(({ 0: all, 1: procedure, index }) => {
    const [input = ""] = argumentsAt(part, index + all.length);
    return `${procedure} ${formOf(input, text)}`.trim();
  });

/** Lists the queries that a component waits for; their options may have a name. */
function waitedFor(text: string): string[] {
  return [...text.matchAll(WAITS)].flatMap(({ 0: all, index }) => {
    const [options = ""] = argumentsAt(text, index + all.length);
    const name = /^(\w+)(?=$|\()/.exec(options)?.[0];
    const made = new RegExp(`const ${name} = [^;]*;`).exec(text)?.[0];
    return queriesIn(made ?? options, text);
  });
}

const { importedBy } = openImports(ROOT);
const pages = sourceFiles(ROOT).filter((file) => /^app\/.*page\.tsx$/.test(file));
const partsOf = (page: string) => [...importedBy(page)].filter((file) => /^components\/.*\.tsx?$/.test(file));

/** The form of a new request shares a file with its revision, which it never renders. */
const NOT_RENDERED = ["app/(panel)/projects/[projectId]/requests/new/page.tsx: requests.get request_id"];

test("a page of the panel reads every query that its parts wait for, with the same input", () => {
  const unread = pages.flatMap((page) => {
    const read = new Set(queriesIn(textOf(page), textOf(page)));
    const waited = partsOf(page).flatMap((part) => waitedFor(textOf(part)));
    return waited.filter((query) => !read.has(query)).map((query) => `${page}: ${query}`);
  });
  expect(unread).toEqual(NOT_RENDERED);
});

test("the law sees a query behind a name, and the fields of its input", () => {
  const part =
    'const asked = { a: 1, ...two };\nuseLive(trpc.holds.list.queryOptions({ ...asked, b, c: "d" }), 5);';
  expect(waitedFor(part)).toEqual(["holds.list a b c two"]);
  expect(waitedFor("const open = trpc.holds.list.queryOptions(of(id, 1));\nuseSuspenseQuery(open);")).toEqual(
    ["holds.list of()"],
  );
  const waits = pages.flatMap(partsOf).flatMap((part) => waitedFor(textOf(part)));
  expect(waits.length).toBeGreaterThan(80);
});
