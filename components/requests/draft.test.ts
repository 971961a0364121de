import { expect, test } from "vitest";
import { CapabilityRequestBody } from "@/server/contract/requests";
import { type Draft, EMPTY_DRAFT, readDraft as readBy, refusedAt, toDraft } from "./draft";

const readDraft = (draft: Draft) => readBy(draft, CapabilityRequestBody);

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

test("all problems are reported at once, each at its field", () => {
  const { body, problems } = readDraft({
    ...EMPTY_DRAFT,
    summary: "x".repeat(301),
    need: "  ",
    acceptanceCases: '{"input": 1',
    constraints: "[1]",
    proposedCapability: "null",
    others: "[]",
  });
  expect(body).toBeNull();
  expect(Object.keys(problems).sort()).toEqual([
    "acceptanceCases",
    "constraints",
    "need",
    "others",
    "summary",
  ]);
  expect(problems.need).toBe("Describe what the capability must do.");
  expect(problems.acceptanceCases).toMatch(/^This is not valid JSON: /);
});

test("a case that is not an object is named by its index", () => {
  const { problems } = readDraft({ ...GOOD, acceptanceCases: '[{"input": 1}, "two"]' });
  expect(problems.acceptanceCases).toMatch(/^At 1: /);
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

test("a server issue is shown at the field it names", () => {
  const issues = [
    { loc: ["body", "need"], msg: "is blank" },
    { loc: ["body", "acceptanceCases", 3], msg: "is too deep" },
    { loc: ["body", "projectId"], msg: "is another" },
  ];
  expect(refusedAt(issues)).toEqual({ need: "Is blank.", acceptanceCases: "Is too deep." });
});
