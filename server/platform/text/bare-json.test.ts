import { expect, test } from "vitest";
import { bareJson, bareJsonOf } from "./bare-json";

const inPieces = (text: string, size: number) => {
  const told: string[] = [];
  const passing = bareJson((piece) => told.push(piece));
  for (let at = 0; at < text.length; at += size) passing.push(text.slice(at, at + size));
  passing.end();
  return told.join("");
};

const JSON_TEXT = '{"a":"```\\n</think>`"}';
test.each([
  [JSON_TEXT, JSON_TEXT],
  [` \n${JSON_TEXT}\n`, ` \n${JSON_TEXT}\n`],
  [`\`\`\`json\n${JSON_TEXT}\n\`\`\``, JSON_TEXT],
  [`\n\`\`\`JSON\n${JSON_TEXT}\n\`\`\`  \n`, JSON_TEXT],
  [`\`\`\`\n${JSON_TEXT}\n\`\`\``, JSON_TEXT],
  [`\`\`\`json ${JSON_TEXT} \`\`\``, JSON_TEXT],
  [`<think>It is {"b":1}.</think>\n${JSON_TEXT}`, JSON_TEXT],
  [`It is so.</think>\n\n\`\`\`json\n${JSON_TEXT}\n\`\`\`\n`, JSON_TEXT],
  [`<think></think>${JSON_TEXT}`, JSON_TEXT],
  ['```json\n{"a":1}', '{"a":1}'],
  ["Sorry, I cannot.", "Sorry, I cannot."],
  ["<think>Hm", "<think>Hm"],
  ["```python\nprint(1)\n```", "```python\nprint(1)\n```"],
  ["", ""],
])("%j is read as %j, however it is cut", (text, bare) => {
  expect(bareJsonOf(text)).toBe(bare);
  for (let size = 1; size <= text.length; size++) expect(inPieces(text, size)).toBe(bare);
});

test("an answer that begins as JSON is passed on at once", () => {
  const told: string[] = [];
  const passing = bareJson((piece) => told.push(piece));
  for (const piece of ['{"a"', ":", "1}"]) passing.push(piece);
  expect(told).toEqual(['{"a"', ":", "1}"]);
});
