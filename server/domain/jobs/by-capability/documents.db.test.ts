import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeDocumentPool } from "@/server/compute/documents";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { makeLockedPdf, makePdf } from "@/testing/pdf";
import { tapSandbox } from "@/testing/vendor-tap";

/* Documents are verified over the API, and the expected values never reach the provider. */

const at = (what: string) => `/v1/capabilities/document.verify.v1/${what}`;
const PAGES = [
  "Invoice 2026-114\nDate: March 1, 2026\nTotal: 1,234.50 EUR",
  "Delivered to the warehouse\nby Ada Lovelace",
  "Customer: ACME GmbH",
];
const EXPECTED = {
  total: 1234.5,
  date: "2026-03-01",
  customer: "Zyzzyva Holdings",
  delivery: "the warehouse",
};
const fields = [
  { name: "total", question: "What is the total?", expected: EXPECTED.total },
  { name: "date", question: "What is the date?", expected: EXPECTED.date },
  { name: "customer", question: "Who is the customer?", expected: EXPECTED.customer },
  { name: "delivered", question: "Where was it delivered to?" },
  { name: "discount", question: "Which discount was granted?", expected: "Qwertz reduction" },
];

let tenant: Tenant;
let tap: Awaited<ReturnType<typeof tapSandbox>>;
let pdf: Buffer;
beforeAll(async () => {
  tenant = await makeTenant();
  tap = await tapSandbox();
  pdf = await makePdf(PAGES);
});
afterAll(async () => {
  await tap.stop();
  await closeDocumentPool();
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const encoded = (bytes: Uint8Array, mediaType = "application/pdf") => ({
  dataBase64: Buffer.from(bytes).toString("base64"),
  mediaType,
});

async function upload(bytes: Uint8Array, type = "application/pdf"): Promise<string> {
  const stored = await tenant.post("/v1/artifacts", bytes, { headers: { "content-type": type } });
  expect(stored.status, stored.text).toBe(200);
  return stored.json.artifactId;
}

async function run(input: object, more: object = {}) {
  const submitted = await tenant.post(at("jobs"), { input, ...more });
  expect(submitted.status, submitted.text).toBe(200);
  const job = await finish(submitted.json.jobId);
  const { json: receipt } = await tenant.get(`/v1/jobs/${job.jobId}/receipt`);
  const [attempt] = receipt.attempts;
  const sent = [attempt.attemptId, `${attempt.attemptId}-2`].flatMap((id) => tap.of(id));
  return { job, receipt, sent: sent.map(({ body }) => body) };
}

const ITEMS = [
  {
    name: "total",
    verdict: "match",
    value: "1,234.50 EUR",
    evidence: [{ quote: "Total: 1,234.50 EUR", page: 1, start: 37, end: 56 }],
    confidence: 0.9,
  },
  {
    name: "date",
    verdict: "match",
    value: "March 1, 2026",
    evidence: [{ quote: "Date: March 1, 2026", page: 1, start: 17, end: 36 }],
    confidence: 0.9,
  },
  {
    name: "customer",
    verdict: "mismatch",
    value: "ACME GmbH",
    evidence: [{ quote: "Customer: ACME GmbH", page: 3, start: 0, end: 19 }],
    confidence: 0.9,
  },
  {
    name: "delivered",
    verdict: "extracted",
    value: "Delivered to the warehouse",
    evidence: [{ quote: "Delivered to the warehouse", page: 2, start: 0, end: 26 }],
    confidence: 0.9,
  },
  { name: "discount", verdict: "not_found", value: null, evidence: [], confidence: null },
];

test("a PDF is verified the same by invoke and by a job, by its bytes and by its artifact", {
  tags: "long",
}, async () => {
  const wanted = { documentSha256: sha256(pdf), pages: 3, items: ITEMS };
  const inline = await tenant.post(at("invoke"), { input: { document: encoded(pdf), fields } });
  expect(inline.status, inline.text).toBe(200);
  expect(inline.json.typedOutput).toEqual(wanted);
  const artifactId = await upload(pdf);
  const named = await tenant.post(at("invoke"), { input: { document: { artifactId }, fields } });
  expect(named.json.typedOutput).toEqual(wanted);
  for (const document of [encoded(pdf), { artifactId }]) {
    const { job, receipt } = await run({ document, fields });
    expect(job).toMatchObject({ status: "succeeded", typedOutput: wanted });
    expect(receipt.usage.inputTokens).toBeGreaterThan(0);
  }
});

test.each(["text/plain", "text/markdown"])(
  "a %s document is one page, by its bytes or its artifact",
  async (type) => {
    const text = "# Lease\n\nTenant: Grace Hopper\n";
    const bytes = Buffer.from(text);
    const items = [
      {
        name: "tenant",
        verdict: "match",
        value: "Grace Hopper",
        evidence: [{ quote: "Tenant: Grace Hopper", page: 1, start: 9, end: 29 }],
        confidence: 0.9,
      },
    ];
    const asked = [{ name: "tenant", question: "Who is the tenant?", expected: "GRACE HOPPER" }];
    const artifactId = await upload(bytes, type);
    for (const document of [encoded(bytes, type), { artifactId }, { text }]) {
      const { status, json } = await tenant.post(at("invoke"), { input: { document, fields: asked } });
      expect(status, JSON.stringify(json)).toBe(200);
      expect(json.typedOutput).toEqual({ documentSha256: sha256(bytes), pages: 1, items });
    }
  },
);

test("expected values never reach the provider, in the first call or in a repair", {
  tags: "long",
}, async () => {
  for (const preferredModel of ["sandbox-1", "sandbox-malformed"]) {
    const { job, sent, receipt } = await run({ document: encoded(pdf), fields }, { preferredModel });
    expect(job.status).toBe("succeeded");
    expect(sent).toHaveLength(receipt.providerSubmissions);
    expect(sent).toHaveLength(preferredModel === "sandbox-1" ? 1 : 2);
    for (const body of sent) {
      expect(body).toContain("What is the total?");
      expect(body).toContain("Delivered to the warehouse");
      for (const secret of ["expected", "1234.5", "2026-03-01", "Zyzzyva", "Qwertz"])
        expect(body.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  }
});

test("the call is the same with and without expected values", async () => {
  const without = fields.map(({ name, question }) => ({ name, question }));
  const [blind, sighted] = await Promise.all(
    [without, fields].map(async (asked) => (await run({ document: encoded(pdf), fields: asked })).sent),
  );
  expect(sighted).toHaveLength(1);
  expect(sighted).toEqual(blind);
});

test("a quotation that is not in the document does not count", async () => {
  const { job } = await run({ document: encoded(pdf), fields }, { preferredModel: "sandbox-careless" });
  expect(job.typedOutput).toMatchObject({
    items: fields.map(({ name }) => ({
      name,
      verdict: "not_found",
      value: null,
      evidence: [],
      confidence: null,
    })),
  });
});

test("a field that the model leaves out is not found", async () => {
  const { job } = await run({ document: encoded(pdf), fields }, { preferredModel: "sandbox-hollow" });
  const { items } = job.typedOutput as { items: { verdict: string }[] };
  expect(items.map(({ verdict }) => verdict)).toEqual(fields.map(() => "not_found"));
});

describe("document input validation", () => {
  const one = [{ name: "a", question: "What is it?" }];
  const BASE64 = ["document", "dataBase64"];
  const MB = 1024 * 1024;
  test.each<[string, () => Promise<object> | object, (string | number)[], RegExp]>([
    ["a PDF cut short", () => ({ document: encoded(pdf.subarray(0, 700)) }), BASE64, /incomplete/],
    ["a locked PDF", async () => ({ document: encoded(await makeLockedPdf()) }), BASE64, /encrypted/],
    ["a PDF without text", async () => ({ document: encoded(await makePdf([""])) }), BASE64, /no text/],
    [
      "a PDF of too many pages",
      async () => ({ document: encoded(await makePdf(Array(301).fill("x"))) }),
      BASE64,
      /more than 300 pages/,
    ],
    ["what is no PDF", () => ({ document: encoded(Buffer.from("A letter")) }), BASE64, /not a PDF/],
    ["a PDF said to be text", () => ({ document: encoded(pdf, "text/plain") }), BASE64, /is a PDF/],
    [
      "text that is none",
      () => ({ document: encoded(Buffer.from([0x80, 0x81]), "text/plain") }),
      BASE64,
      /not UTF-8 text/,
    ],
    [
      "text with NUL",
      () => ({ document: encoded(Buffer.from("a\0b"), "text/markdown") }),
      BASE64,
      /not UTF-8 text/,
    ],
    ["an empty file", () => ({ document: encoded(Buffer.from(" \n"), "text/plain") }), BASE64, /empty/],
    [
      "another media type",
      () => ({ document: encoded(pdf, "image/png") }),
      ["document", "mediaType"],
      /application\/pdf, text\/plain, text\/markdown/,
    ],
    [
      "what is not base64",
      () => ({ document: { dataBase64: "not base64!", mediaType: "application/pdf" } }),
      BASE64,
      /not valid base64/,
    ],
    [
      "too many bytes",
      () => ({ document: encoded(Buffer.alloc(20 * MB + 1, 97), "text/plain") }),
      BASE64,
      /20971520/,
    ],
    ["an empty text", () => ({ document: { text: "  \n" } }), ["document", "text"], /empty/],
    ["two documents", () => ({ document: { text: "x", artifactId: "art_x" } }), ["document"], /one of/],
    ["bytes without a type", () => ({ document: { dataBase64: "AAAA" } }), ["document"], /one of/],
    ["no fields", () => ({ document: { text: "x" }, fields: [] }), ["fields"], /./],
    [
      "51 fields",
      () => ({
        document: { text: "x" },
        fields: Array.from({ length: 51 }, (_, n) => ({ name: `${n}`, question: "?" })),
      }),
      ["fields"],
      /50/,
    ],
    [
      "a name twice",
      () => ({ document: { text: "x" }, fields: [...one, ...one] }),
      ["fields", 1, "name"],
      /Another/,
    ],
    [
      "an artifact no one has",
      () => ({ document: { artifactId: "art_00000000000000000000000000" } }),
      ["document", "artifactId"],
      /./,
    ],
    [
      "an artifact of another kind",
      async () => ({ document: { artifactId: await upload(Buffer.from("x"), "image/png") } }),
      ["document", "artifactId"],
      /image\/png/,
    ],
    [
      "an artifact that only says it is a PDF",
      async () => ({ document: { artifactId: await upload(Buffer.from("A letter")) } }),
      ["document", "artifactId"],
      /not a PDF/,
    ],
    [
      "an artifact too large",
      async () => ({ document: { artifactId: await upload(Buffer.alloc(20 * MB + 1, 97), "text/plain") } }),
      ["document", "artifactId"],
      /20971520/,
    ],
  ])("%s is refused at its field, and nothing is sent", async (_case, make, field, message) => {
    const input = { fields: one, ...(await make()) };
    const before = tap.size();
    for (const what of ["invoke", "jobs"]) {
      const { status, json } = await tenant.post(at(what), { input });
      expect(status, JSON.stringify(json)).toBe(422);
      expect(json.detail[0]).toMatchObject({
        loc: ["body", "input", ...field],
        msg: expect.stringMatching(message),
      });
    }
    expect(tap.size()).toBe(before);
  });

  test("a document longer than any model reads is refused", async () => {
    const text = "word ".repeat(200_000);
    for (const document of [{ text }, encoded(Buffer.from(text), "text/plain")]) {
      const before = tap.size();
      const { status, json } = await tenant.post(at("invoke"), { input: { document, fields: one } });
      expect(status).toBe(422);
      expect(json, JSON.stringify(json)).toMatchObject({
        detail: { code: "PromptTooLong", field: expect.stringMatching(/^input\.document/) },
      });
      expect(tap.size()).toBe(before);
    }
  });

  test("a schema or tools beside the input are refused", async () => {
    const input = { document: { text: "x" }, fields: one };
    const schema = await tenant.post(at("jobs"), { input, responseSchema: {} });
    expect([schema.status, schema.json.detail[0].loc]).toEqual([422, ["body", "responseSchema"]]);
    const tools = await tenant.post(at("jobs"), { input, toolSchemas: [{ name: "t" }] });
    expect([tools.status, tools.json.detail[0].loc]).toEqual([422, ["body", "toolSchemas"]]);
  });
});
