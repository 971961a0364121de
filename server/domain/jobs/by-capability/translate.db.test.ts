import { afterAll, beforeAll, expect, test } from "vitest";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { tapSandbox } from "@/testing/vendor-tap";

/* Translation and extraction, end to end over the API. */

const at = (key: string, what: string) => `/v1/capabilities/${key}/${what}`;
const TRANSLATE = "text.translate.v1";
const EXTRACT = "text.structured.extraction.v1";
const input = {
  targetLocale: "de",
  items: [
    { id: "one", text: "Hello {name}, open the map in Capstan.", placeholders: ["{name}"] },
    { id: "two", text: "Save the map", maxLength: 8, context: "secret-context" },
  ],
  glossary: [{ source: "map", target: "Karte" }],
  preserveTerms: ["Capstan"],
};

let tenant: Tenant;
let tap: Awaited<ReturnType<typeof tapSandbox>>;
beforeAll(async () => {
  tenant = await makeTenant();
  tap = await tapSandbox();
});
afterAll(() => tap.stop());

async function run(key: string, body: object) {
  const submitted = await tenant.post(at(key, "jobs"), body);
  expect(submitted.status, submitted.text).toBe(200);
  const job = await finish(submitted.json.jobId);
  const { json: receipt } = await tenant.get(`/v1/jobs/${job.jobId}/receipt`);
  return { job, receipt };
}

test("a translation keeps ids, placeholders, terms, glossary and length", async () => {
  const { status, json } = await tenant.post(at(TRANSLATE, "invoke"), { input });
  expect(status, JSON.stringify(json)).toBe(200);
  const [one, two] = json.typedOutput.items;
  expect([one.id, two.id]).toEqual(["one", "two"]);
  expect(one.translation).toContain("{name}");
  expect(one.translation).toContain("Capstan");
  expect(one.translation).toContain("Karte");
  expect([...two.translation].length).toBeLessThanOrEqual(8);
  const { job } = await run(TRANSLATE, { input });
  expect(job.typedOutput).toEqual(json.typedOutput);
});

test("a translation that lost something is sent back once, with a list of the losses", async () => {
  const { job, receipt } = await run(TRANSLATE, { input, preferredModel: "sandbox-careless" });
  expect(job.status).toBe("succeeded");
  const { attemptId, submissions } = receipt.attempts[0];
  expect(submissions).toBe(2);
  const [second] = tap.of(`${attemptId}-2`).map(({ body }) => JSON.parse(body));
  const complaint: string = second.messages.at(-1).content;
  expect(complaint).toContain('Item "two" is missing.');
  expect(complaint).toContain('Item "one" must have "{name}" once, not 0 times.');
});

test("a translation that stays wrong after the repair fails with the ids of its items", async () => {
  const items = input.items.map(({ id, text }) => ({ id, text, maxLength: 1, placeholders: ["{name}"] }));
  const { job, receipt } = await run(TRANSLATE, { input: { ...input, items } });
  expect(job.error).toMatchObject({ code: "StructuredOutputInvalid", details: { ids: ["one", "two"] } });
  expect(receipt.providerSubmissions).toBe(2);
});

test("a translation without items is EmptyStructuredOutput", async () => {
  const { job } = await run(TRANSLATE, { input, preferredModel: "sandbox-hollow" });
  expect(job.error?.code).toBe("EmptyStructuredOutput");
});

test.each<[string, object, (string | number)[]]>([
  ["no items", { items: [] }, ["items"]],
  ["101 items", { items: Array.from({ length: 101 }, (_, n) => ({ id: `${n}`, text: "x" })) }, ["items"]],
  [
    "an id twice",
    {
      items: [
        { id: "a", text: "x" },
        { id: "a", text: "y" },
      ],
    },
    ["items", 1, "id"],
  ],
  ["a text too long", { items: [{ id: "a", text: "x".repeat(20_001) }] }, ["items", 0, "text"]],
  ["a locale that is none", { targetLocale: "german please" }, ["targetLocale"]],
  [
    "a greatest length of nothing",
    { items: [{ id: "a", text: "x", maxLength: 0 }] },
    ["items", 0, "maxLength"],
  ],
])("a translation with %s is refused at its field", async (_case, more, field) => {
  const { status, json } = await tenant.post(at(TRANSLATE, "invoke"), { input: { ...input, ...more } });
  expect(status).toBe(422);
  expect(json.detail[0].loc).toEqual(["body", "input", ...field]);
});

test("a schema or tools beside a translation or an extraction are refused at their fields", async () => {
  for (const [key, own] of [
    [TRANSLATE, input],
    [EXTRACT, { document: "x", schema: {} }],
  ] as const) {
    const schema = await tenant.post(at(key, "jobs"), { input: own, responseSchema: {} });
    expect([schema.status, schema.json.detail[0].loc]).toEqual([422, ["body", "responseSchema"]]);
    const tools = await tenant.post(at(key, "jobs"), { input: own, toolSchemas: [{ name: "t" }] });
    expect([tools.status, tools.json.detail[0].loc]).toEqual([422, ["body", "toolSchemas"]]);
  }
});

test("an extraction fills its schema, and an invalid schema is refused at its field", async () => {
  const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const body = { input: { document: "Total: 12.50 EUR", schema, instructions: "In euros." } };
  const { status, json } = await tenant.post(at(EXTRACT, "invoke"), body);
  expect(status, JSON.stringify(json)).toBe(200);
  expect(json.typedOutput).toEqual({ total: expect.any(Number) });
  const { job } = await run(EXTRACT, { ...body, preferredModel: "sandbox-malformed" });
  expect(job.typedOutput).toEqual({ total: expect.any(Number) });
  const broken = await tenant.post(at(EXTRACT, "jobs"), {
    input: { document: "x", schema: { type: "thing" } },
  });
  expect(broken.json.detail[0].loc).toEqual(["body", "input", "schema", "type"]);
});
