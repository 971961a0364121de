import { expect, test } from "vitest";
import { type DiffLine, type DiffRow, diffLines, folded, unified } from "@/components/blocks/diff/diff-lines";
import { compareRevisions, revisionText } from "./compare";

const marked = (line: DiffLine | null) =>
  line?.pieces.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("") ?? null;
const sides = (rows: DiffRow[]) => rows.map(({ older, newer }) => [marked(older), marked(newer)]);
const plain = (line: DiffLine) => line.pieces.map(({ text }) => text).join("");

test("a changed line is beside its old version, with changed words marked on both sides", () => {
  const rows = diffLines(
    "Read drawings.\nGive every length in inches.\nBe quick.",
    "Read drawings.\nGive every length in millimetres.\nBe quick.",
  );
  expect(sides(rows)).toEqual([
    ["Read drawings.", "Read drawings."],
    ["Give every length in [inches].", "Give every length in [millimetres]."],
    ["Be quick.", "Be quick."],
  ]);
  expect(rows.map(({ kind }) => kind)).toEqual(["same", "changed", "same"]);
});

test("added and removed lines have an empty other side, and lines keep their numbers", () => {
  const rows = diffLines("one\ntwo\nfour", "one\nthree\nfour\nfive");
  expect(sides(rows)).toEqual([
    ["one", "one"],
    ["two", "three"],
    ["four", "four"],
    [null, "five"],
  ]);
  expect(rows.map(({ older, newer }) => [older?.number, newer?.number])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [undefined, 4],
  ]);
  expect(sides(diffLines("a\nb", "a"))).toEqual([
    ["a", "a"],
    ["b", null],
  ]);
});

test("a new or removed text is shown in full on its side", () => {
  expect(sides(diffLines(null, "a\nb"))).toEqual([
    [null, "a"],
    [null, "b"],
  ]);
  expect(sides(diffLines("a\nb", null))).toEqual([
    ["a", null],
    ["b", null],
  ]);
  expect(diffLines(null, null)).toEqual([]);
});

test("lines with little in common are shown in full, without marks", () => {
  const [row] = diffLines("The quick brown fox jumps.", "Invoices in Latvian, please, with totals.");
  expect(row?.older?.pieces).toHaveLength(1);
  expect(row?.newer?.pieces).toHaveLength(1);
});

test("every character of both texts appears in the comparison once, for any texts", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const text = () =>
    Array.from({ length: random(12) }, () =>
      Array.from({ length: random(6) }, () => ["a", "b ", "é", "🧭", "  ", "."][random(6)]).join(""),
    ).join("\n");
  for (let round = 0; round < 300; round++) {
    const [older, newer] = [text(), text()];
    const rows = diffLines(older, newer);
    const side = (which: "older" | "newer") =>
      rows
        .flatMap((row) => row[which] ?? [])
        .map(plain)
        .join("\n");
    expect(side("older")).toBe(older);
    expect(side("newer")).toBe(newer);
    const lines = unified(rows);
    expect(
      lines
        .filter(({ sign }) => sign !== "+")
        .map(({ line }) => plain(line))
        .join("\n"),
    ).toBe(older);
    expect(
      lines
        .filter(({ sign }) => sign !== "-")
        .map(({ line }) => plain(line))
        .join("\n"),
    ).toBe(newer);
    expect(folded(rows).flatMap((stretch) => stretch.rows)).toEqual(rows);
  }
});

test("in one column, each block shows the old lines before the new ones", () => {
  const rows = diffLines("a\nb\nc", "x\ny\nc");
  expect(unified(rows).map(({ sign, line }) => sign + plain(line))).toEqual(["-a", "-b", "+x", "+y", " c"]);
});

test("long unchanged stretches are folded except for their edges", () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  const rows = diffLines(lines.join("\n"), lines.with(20, "something else entirely").join("\n"));
  expect(folded(rows).map(({ kind, rows: each }) => [kind, each.length])).toEqual([
    ["folded", 17],
    ["shown", 7],
    ["folded", 16],
  ]);
});

test("a very long rewritten text has one row for each line", () => {
  const long = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word}${at * 7919}`).join(" ");
  const rows = diffLines(long("a"), long("b"));
  expect(rows).toHaveLength(1);
  const many = (word: string) => long(word).replaceAll(" ", "\n");
  expect(diffLines(many("a"), many("b"))).toHaveLength(20_000);
});

test("members are compared in reading order, custom ones too, without those that only identify the request", () => {
  const base = {
    schemaVersion: "service.capability-request.v1",
    summary: "Read drawings",
    need: "All of them",
  };
  const changes = compareRevisions(
    { ...base, constraints: { maxLatencySeconds: 30 }, contact: "Ann" },
    { ...base, need: "Most of them", acceptanceCases: [{ input: 1 }], contact: "Ann" },
  );
  expect(changes.map(({ label, change }) => [label, change])).toEqual([
    ["Summary", "same"],
    ["Need", "changed"],
    ["Constraints", "removed"],
    ["Acceptance cases", "added"],
    ["contact", "same"],
  ]);
  expect(compareRevisions(base, { ...base, projectId: "cpr_1" }).map(({ member }) => member)).toContain(
    "projectId",
  );
});

test("JSON is compared by content: member order does not count as a change", () => {
  const [change] = compareRevisions(
    { constraints: { a: 1, b: { c: 2, d: 3 } } },
    { constraints: { b: { d: 3, c: 2 }, a: 1 } },
  );
  expect(change?.change).toBe("same");
  expect(revisionText({ b: 1, a: [2] })).toBe('{\n  "a": [\n    2\n  ],\n  "b": 1\n}');
  const [changed] = compareRevisions({ constraints: { a: 1 } }, { constraints: { a: 2 } });
  expect(changed).toMatchObject({ isProse: false, change: "changed" });
  expect(sides(changed?.rows ?? [])).toContainEqual(['  "a": [1]', '  "a": [2]']);
});

test("a member that changed from text to JSON is shown as both", () => {
  const [change] = compareRevisions({ contact: "Ann" }, { contact: { name: "Ann" } });
  expect(change).toMatchObject({ isProse: false, change: "changed" });
});
