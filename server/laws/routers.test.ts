import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles } from "@/scripts/test/imports";

const ROOT = resolve(import.meta.dirname, "../..");
const MOST_LINES = 12;
const DEPTHS: Record<string, number> = { "(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1 };

/**
 * Lists a router's faults: a router only connects procedures to verbs, and any other logic belongs in the
 * verb.
 */
function faultsOf(text: string): string[] {
  return [
    ...(/\.filter\(|(?::|return) \[\]/.test(text)
      ? ["filters rows in memory: make it a parameter of the verb's statement"]
      : []),
    ...(/\bhuman\b(?:(?!subscription)[\s\S])*?\.(?:query|mutation)\(/.test(text)
      ? ["writes a procedure out: say it with reads, does or acts"]
      : []),
    ...[...text.matchAll(/=>\s*/g)]
      .map(({ 0: arrow, index }) => linesOfBody(text, index + arrow.length))
      .filter((lines) => lines > MOST_LINES)
      .map((lines) => `has a body of ${lines} lines, more than ${MOST_LINES}: move it into the verb`),
  ];
}

/** The lines from here to where the body of an arrow function ends: at its closing bracket, or at the next argument. */
function linesOfBody(text: string, from: number): number {
  let depth = 0;
  let end = from;
  for (; end < text.length; end++) {
    depth += DEPTHS[text[end]!] ?? 0;
    if (depth < 0 || (depth === 0 && /[,;]/.test(text[end]!))) break;
  }
  return text.slice(from, end).trim().split("\n").length;
}

test("no router filters rows in memory, writes a procedure out, or has a body of more than 12 lines", () => {
  const routers = sourceFiles(ROOT).filter((file) => /^server\/trpc\/routers\/[\w-]+\.ts$/.test(file));
  expect(routers.length).toBeGreaterThan(15);
  const faults = routers.flatMap((file) =>
    faultsOf(readFileSync(join(ROOT, file), "utf8")).map((fault) => `${file} ${fault}`),
  );
  expect(faults).toEqual([]);
});

test("the law of routers sees each of its faults, and a body of 12 lines passes", () => {
  const body = (lines: number) =>
    `list: reads(Ref, View, async (ctx, input) => {\n${"  await verb(ctx, input);\n".repeat(lines - 2)}}),`;
  expect(faultsOf(body(12))).toEqual([]);
  expect(faultsOf(body(13))).toEqual([expect.stringContaining("a body of 13 lines")]);
  expect(faultsOf("keys.filter(({ projectId }) => projectId === null)")).toHaveLength(1);
  expect(faultsOf("rows.flatMap((row) => (roles.has(row.id) ? [row] : []))")).toHaveLength(1);
  expect(faultsOf("human.output(View).query(({ ctx }) => verb(ctx))")).toHaveLength(1);
  expect(faultsOf("human.input(Ref).subscription(async function* ({ ctx }) {})")).toEqual([]);
});
