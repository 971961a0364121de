import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CASES, MADE } from "./cases";

/* The page of compatible servers lists only what the corpus has tried. */

const PAGE = "docs/reference/compatible-servers.md";
const rows = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => /^\| [^-]/.test(line) && !line.startsWith("| Server "))
  .map((line) => {
    const [, server = "", address = "", tried = ""] = line.split("|").map((cell) => cell.trim());
    return { server, address, tried };
  });
const played = new Set([...CASES, ...MADE].map(({ name }) => name));

test("every case that the page of servers names is in the corpus", () => {
  const named = rows.flatMap(({ tried }) => [...tried.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !played.has(name))).toEqual([]);
});

test("every server of the page has a URL and a list of what was tried", () => {
  expect(rows.length).toBeGreaterThan(18);
  const [silent, homeless] = [
    rows.filter(({ tried }) => !/`|loop|the usual form/.test(tried)),
    rows.filter(({ address }) => !/^`https?:\/\/[^`]+`$/.test(address)),
  ];
  expect([...silent, ...homeless].map(({ server }) => server)).toEqual([]);
});
