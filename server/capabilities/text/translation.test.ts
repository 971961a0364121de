import { expect, test } from "vitest";
import { flawsOf } from "./translation";

const asked = {
  items: [
    { id: "a", text: "Hello {name}, {name}! Open the Harbour Map.", placeholders: ["{name}", "%s"] },
    { id: "b", text: "Saved with Capstan.", maxLength: 12 },
  ],
  glossary: [{ source: "harbour map", target: "Hafenkarte" }],
  preserveTerms: ["Capstan", "it"],
};
const right = [
  { id: "b", translation: "Capstan: 😀ok" },
  { id: "a", translation: "Hallo {name}, {name}! Öffne die Hafenkarte." },
];
const swap = (id: string, translation: string) =>
  right.map((item) => (item.id === id ? { id, translation } : item));

test("an answer that meets all requirements has no flaws, in any order", async () => {
  expect(await flawsOf(asked, right)).toEqual([]);
});

test.each<[string, { id: string; translation: string }[], string, RegExp]>([
  ["a missing item", right.slice(1), "b", /is missing/],
  ["an item twice", [...right, { id: "b", translation: "Capstan" }], "b", /2 times/],
  ["an id no one asked for", [...right, { id: "c", translation: "x" }], "c", /no id/],
  ["an empty translation", swap("b", " "), "b", /is empty/],
  ["a placeholder too few", swap("a", "Hallo {name}! Hafenkarte"), "a", /"\{name\}" 2 times, not once/],
  ["a placeholder too many", swap("a", "{name} {name} {name} Hafenkarte"), "a", /not 3 times/],
  ["a placeholder out of nothing", swap("a", "{name} {name} %s Hafenkarte"), "a", /"%s" 0 times/],
  ["a lost term", swap("b", "capstan ok"), "b", /"Capstan" once, not 0 times/],
  ["a glossary passed over", swap("a", "Hallo {name}, {name}! Plan"), "a", /"Hafenkarte" for "harbour map"/],
  ["a translation too long by characters", swap("b", "Capstan: 😀ok!"), "b", /13 characters; at most 12/],
])("%s is found", async (_case, answered, id, finding) => {
  const flaws = await flawsOf(asked, answered);
  expect(flaws.map((flaw) => flaw.id)).toContain(id);
  expect(flaws.map((flaw) => flaw.finding).join("\n")).toMatch(finding);
});

test("a long search for many terms yields to other work", async () => {
  const text = "harbour ".repeat(2_500);
  const terms = Array.from({ length: 500 }, (_, place) => `term ${place}`);
  const items = Array.from({ length: 4 }, (_, place) => ({ id: `item ${place}`, text }));
  let turns = 0;
  const ticking = setInterval(() => turns++, 0);
  await flawsOf(
    { items, preserveTerms: terms },
    items.map(({ id }) => ({ id, translation: text })),
  );
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(3);
});
