import { expect, test } from "vitest";
import { EMPTY_DRAFT, examplesOf, memberText, readDraft, toDraft, withMember } from "./draft";

const GOOD = { ...EMPTY_DRAFT, summary: "Read drawings", need: "All of them." };

test("a valid draft becomes the API's request body, without empty fields", () => {
  expect(readDraft(GOOD)).toEqual({ body: { summary: "Read drawings", need: "All of them." }, problems: {} });
  const { body } = readDraft({
    ...GOOD,
    acceptanceCases: '[{"input": 1, "expected": 2}]',
    constraints: '{"maxLatencySeconds": 5}',
    others: '{"team": "blue"}',
  });
  expect(body).toEqual({
    summary: "Read drawings",
    need: "All of them.",
    acceptanceCases: [{ input: 1, expected: 2 }],
    constraints: { maxLatencySeconds: 5 },
    team: "blue",
  });
});

test("invalid JSON in several fields is reported at once, each at its field", () => {
  const { body, problems } = readDraft({
    ...GOOD,
    acceptanceCases: '{"input": 1',
    constraints: "{",
    others: "[]",
  });
  expect(body).toBeNull();
  expect(Object.keys(problems).sort()).toEqual(["acceptanceCases", "constraints", "others"]);
  expect(problems.acceptanceCases).toMatch(/^This is not valid JSON: /);
});

test("a member with a field of its own is read from the JSON and written into it, beside the others", () => {
  const json = withMember('{"region": "eu"}', "maxLatencySeconds", 30);
  expect(JSON.parse(json)).toEqual({ region: "eu", maxLatencySeconds: 30 });
  expect(memberText(json, "maxLatencySeconds")).toBe("30");
  expect(JSON.parse(withMember(json, "maxLatencySeconds", ""))).toEqual({ region: "eu" });
  expect(withMember('{"notes": "x"}', "notes", "")).toBe("");
  for (const unfit of ["[1]", "{", '{"notes": {}}']) expect(memberText(unfit, "notes")).toBeNull();
});

test("acceptance cases of two texts are examples; others are only JSON", () => {
  expect(examplesOf("")).toEqual([]);
  expect(examplesOf('[{"input": "a", "expected": "b"}]')).toEqual([{ input: "a", expected: "b" }]);
  for (const unfit of ['[{"input": {}, "expected": "b"}]', '[{"input": "a"}]', "{}", "["])
    expect(examplesOf(unfit)).toBeNull();
});

test("other members cannot repeat a member that has its own field", () => {
  for (const name of ["summary", "acceptanceCases", "projectId", "schemaVersion", "idempotencyKey"])
    expect(readDraft({ ...GOOD, others: JSON.stringify({ [name]: "x" }) }).problems.others).toContain(name);
});

test("a revision without changes has the same content, including custom members", () => {
  const content = {
    schemaVersion: "service.capability-request.v1",
    summary: "Read drawings",
    need: " All of them.\n",
    acceptanceCases: [{ input: { page: 1 }, expected: {} }],
    implementationPreferences: { language: "any" },
    team: { name: "blue" },
  };
  const { schemaVersion: _, ...wording } = content;
  expect(readDraft(toDraft(content)).body).toEqual(wording);
});
