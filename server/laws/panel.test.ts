import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles } from "@/scripts/test/imports";

const ROOT = join(import.meta.dirname, "../..");
const files = sourceFiles(ROOT).filter((file) => !/\.test\.tsx?$/.test(file));
const known = new Set(files);
const textOf = (file: string) => readFileSync(join(ROOT, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
const isClient = (file: string) => /^\s*"use client"/.test(textOf(file));

/** Lists what a file loads at once, without types and `import()`: our files by their paths, packages by their names. */
function loads(file: string): string[] {
  const found = textOf(file).matchAll(/^\s*(?:import|export)\s+(type\s)?(?:([^;"]*?)\sfrom\s+)?"([^"]+)"/gm);
  return [...found].flatMap(([, type, names = "", from = ""]) => {
    if (type || isOnlyTypes(names)) return [];
    const path = from.startsWith("@/")
      ? from.slice(2)
      : from.startsWith(".")
        ? posix.join(posix.dirname(file), from)
        : null;
    if (path === null) return [from];
    return ["", ".ts", ".tsx", "/index.ts"].map((end) => path + end).filter((each) => known.has(each));
  });
}
const isOnlyTypes = (names: string) => /^\{(\s*type\s[^,]*,?)+\s*\}$/.test(names);

/**
 * Lists the files that load a package in the browser, each with one way from a page: through client
 * components and their imports.
 */
function waysTo(name: string): string[] {
  const ways: string[] = [];
  const seen = new Set<string>();
  const walk = (file: string, isInBrowser: boolean, way: string[]) => {
    const here = isInBrowser || isClient(file);
    const key = `${file} ${here}`;
    if (seen.has(key)) return;
    seen.add(key);
    for (const target of loads(file)) {
      if (target === name && here) ways.push([...way, file].join(" > "));
      if (known.has(target) && (here || /^(app|components)\//.test(target)))
        walk(target, here, [...way, file]);
    }
  };
  for (const page of files.filter((file) => /^app\/.*\/(page|layout)\.tsx$/.test(file)))
    walk(page, false, []);
  return ways;
}

test.each(["zod", "next-auth/react"])("no page of the panel loads %s before it needs it", (name) => {
  expect(waysTo(name)).toEqual([]);
});

test("the import search finds the files that load React Query in the browser", () => {
  expect(waysTo("@tanstack/react-query").length).toBeGreaterThan(20);
});

test("only our link component, which fetches ahead only what the reader points at, imports next/link", () => {
  const others = files.filter(
    (file) => /^(app|components)\//.test(file) && loads(file).includes("next/link"),
  );
  expect(others).toEqual(["components/ui/link.tsx"]);
});

/** These forms of sign-in and of the documentation's search work before any script has run. */
const BEFORE_SCRIPTS = [
  "components/docs/docs-page.tsx",
  "components/sign-in/code-form.tsx",
  "components/sign-in/sign-in-form.tsx",
];
const DRAWN = /<(table|form|AmountField)\b/;

test("tables, forms and inputs for money are drawn by the shared blocks, except the listed forms", () => {
  const others = files.filter(
    (file) =>
      /^(app|components)\//.test(file) &&
      !/^components\/(ui|blocks|playground)\//.test(file) &&
      DRAWN.test(textOf(file)),
  );
  expect(others).toEqual(BEFORE_SCRIPTS);
});
