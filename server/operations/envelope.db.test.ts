import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { providers } from "@/server/providers/registry.gen";
import { call, finish, makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { tapSandbox } from "@/testing/vendor-tap";
import { testClock } from "@/testing/world";

/*
 * Each field of the envelope has an effect somebody can see: on the job, its request, its receipt, or in what the
 * provider was really sent.
 */

const TEXT = "text.general.fast.v1";
const MATH = "compute.evaluate.v1";
const IMAGE = "image.generate.v1";
const at = (key: string, what: string) => `/v1/capabilities/${key}/${what}`;
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const say = (content: string) => ({ messages: [{ role: "user", content }] });

let tenant: Tenant;
let tap: Awaited<ReturnType<typeof tapSandbox>>;
beforeAll(async () => {
  tenant = await makeTenant();
  tap = await tapSandbox();
});
afterAll(() => tap.stop());

const settings = (projectId: string, values: object) =>
  pool.query("UPDATE project SET settings = $2 WHERE id = $1", [projectId, JSON.stringify(values)]);

/** Runs a job to its end; everything that can be read afterwards. */
async function run(body: object, key = TEXT) {
  const submitted = await tenant.post(at(key, "jobs"), body);
  expect(submitted.status, submitted.text).toBe(200);
  const jobId: string = submitted.json.jobId;
  await finish(jobId);
  const read = async (path: string) => (await tenant.get(`/v1/jobs/${jobId}${path}`)).json;
  const receipt = await read("/receipt");
  const attemptId: string | undefined = receipt.attempts[0]?.attemptId;
  const sent = attemptId ? tap.of(attemptId) : [];
  return {
    jobId,
    job: await read(""),
    request: await read("/request"),
    result: await read("/result"),
    receipt,
    sent: sent.map(({ body: text }) => JSON.parse(text)),
    wire: JSON.stringify(sent),
  };
}

const refused = async (what: string, body: object, key = TEXT) => {
  const { status, json } = await tenant.post(at(key, what), body);
  return { status, detail: json.detail };
};

describe("words of the caller", () => {
  const words = {
    externalRef: "order-0815",
    tags: ["blue", "urgent"],
    metadata: { cost: { center: 7 } },
    correlationId: "corr-0815",
    taskKind: "kind-0815",
  };

  test("are on job, request and receipt, and never sent to a provider", async () => {
    const { job, request, receipt, wire } = await run({
      input,
      ...words,
      context: { productId: "shop-0815" },
    });
    for (const seen of [job, request.request, receipt]) expect(seen).toMatchObject(words);
    expect(job.productId).toBe("shop-0815");
    expect(receipt.productId).toBe("shop-0815");
    expect(wire).not.toMatch(/0815|blue|urgent|center/);
    expect(wire).toContain("How deep is the sea?");
  });

  test("a synchronous answer echoes them", async () => {
    const { json } = await tenant.post(at(TEXT, "invoke"), { input, ...words });
    expect(json).toMatchObject({
      externalRef: words.externalRef,
      tags: words.tags,
      metadata: words.metadata,
    });
  });

  test("jobs are found by all of their tags, exactly, in both lists", async () => {
    const own = await makeTenant();
    const submit = async (tags: string[]) => (await own.post(at(TEXT, "jobs"), { input, tags })).json.jobId;
    const [both, one, none] = [await submit(["a", "b"]), await submit(["a"]), await submit([])];
    for (const list of ["/v1/jobs", `/v1/projects/${own.projectId}/jobs`]) {
      const ids = async (query: string) =>
        (await own.get(`${list}${query}`)).json.items.map((item: { jobId: string }) => item.jobId);
      expect(await ids("")).toEqual([none, one, both]);
      expect(await ids("?tag=a")).toEqual([one, both]);
      expect(await ids("?tag=a&tag=b")).toEqual([both]);
      expect(await ids("?tag=A")).toEqual([]);
    }
  });

  test("a deployment may ask for less; a ceiling out of range counts as the published one", async () => {
    const before = { ...env };
    const submit = async (body: object) =>
      (await refused("jobs", { input, ...body })).detail?.[0]?.loc ?? null;
    const tags = (count: number) => Array.from({ length: count }, (_, place) => `t${place}`);
    try {
      setSettings({
        TAGS_MAX: 2,
        TAG_MAX_LENGTH: 3,
        EXTERNAL_REF_MAX_LENGTH: 4,
        METADATA_MAX_BYTES: 20,
        METADATA_MAX_DEPTH: 2,
      });
      expect(await submit({ tags: tags(3) })).toEqual(["body", "tags"]);
      expect(await submit({ tags: ["long"] })).toEqual(["body", "tags", 0]);
      expect(await submit({ externalRef: "12345" })).toEqual(["body", "externalRef"]);
      expect(await submit({ metadata: { a: "x".repeat(20) } })).toEqual(["body", "metadata"]);
      expect(await submit({ metadata: { a: { b: {} } } })).toEqual(["body", "metadata"]);
      for (const wrong of [0, -1, 100_000]) {
        setSettings({
          TAGS_MAX: wrong,
          TAG_MAX_LENGTH: wrong,
          EXTERNAL_REF_MAX_LENGTH: wrong,
          METADATA_MAX_BYTES: wrong,
          METADATA_MAX_DEPTH: wrong,
        });
        expect(
          await submit({ tags: tags(32), externalRef: "x".repeat(255), metadata: { a: "x".repeat(16_000) } }),
        ).toBeNull();
        expect(await submit({ tags: tags(33) })).toEqual(["body", "tags"]);
        expect(await submit({ tags: ["x".repeat(257)] })).toEqual(["body", "tags", 0]);
        expect(await submit({ externalRef: "x".repeat(256) })).toEqual(["body", "externalRef"]);
        expect(await submit({ metadata: { a: "x".repeat(16_384) } })).toEqual(["body", "metadata"]);
      }
    } finally {
      setSettings(before);
    }
  });
});

describe("what goes to the provider", () => {
  const tool = { type: "function", name: "depth", parameters: { type: "object", properties: {} } };
  const schema = { type: "object", properties: { depth: { type: "number" } }, required: ["depth"] };

  test("toolSchemas, responseSchema and sampling arrive as they were given", async () => {
    const { sent } = await run({
      input,
      responseSchema: schema,
      sampling: { temperature: 0.5, reasoningIntent: "balanced" },
    });
    expect(sent[0]).toMatchObject({
      responseFormat: { type: "json_schema", schema },
      temperature: 0.5,
      reasoningIntent: "balanced",
    });
    const { sent: withTool } = await run({ input, toolSchemas: [tool] });
    expect(withTool[0].tools).toEqual([tool]);
    const { sent: plain } = await run({ input });
    for (const field of ["tools", "temperature", "reasoningIntent"])
      expect(plain[0]).not.toHaveProperty(field);
  });

  test("what the route does not support is refused by its name, before anything is kept", async () => {
    for (const [field, value] of [
      ["toolSchemas", [tool]],
      ["responseSchema", schema],
      ["sampling.temperature", 0.5],
      ["sampling.reasoningIntent", "deep"],
    ] as const) {
      const [root, inner] = field.split(".");
      const body = { [root!]: inner ? { [inner]: value } : value };
      for (const [key, own, what] of [
        [IMAGE, { prompt: "A kite" }, "jobs"],
        [MATH, { expression: "1 + 1" }, "invoke"],
      ] as const) {
        const { status, detail } = await refused(what, { input: own, ...body }, key);
        expect([status, detail[0].loc, detail[0].type]).toEqual([
          422,
          ["body", ...field.split(".")],
          "unsupported",
        ]);
      }
    }
  });
});

describe("the route", () => {
  test("a pin is taken exactly, or refused with what could be taken", async () => {
    const { receipt, sent } = await run({ input, pin: { target: "sandbox/sandbox-2" } });
    expect(receipt.route).toMatchObject({ provider: "sandbox", model: "sandbox-2" });
    expect(sent[0].model).toBe("sandbox-2");
    for (const target of ["sandbox/sandbox-3", "openai/gpt-4.1-mini", "sandbox-2"]) {
      const { status, detail } = await refused("jobs", { input, pin: { target } });
      expect([status, detail.code]).toEqual([409, "ROUTE_UNAVAILABLE"]);
      expect(detail.recovery.alternates).toContain("sandbox/sandbox-1");
    }
    const local = await refused(
      "invoke",
      { input: { expression: "1" }, pin: { target: "sandbox/sandbox-1" } },
      MATH,
    );
    expect(local.detail).toMatchObject({ code: "ROUTE_UNAVAILABLE", recovery: { alternates: [] } });
  });

  test("of a model and a provider that do not go together, the one that cannot be met is named", async () => {
    const names = (preferredModel: string, providerPin: string) =>
      refused("jobs", { input, execution: { executionConstraints: { preferredModel, providerPin } } });
    for (const [model, provider, field] of [
      ["sandbox-2", "unknown", "providerPin"],
      ["sandbox-3", "sandbox", "preferredModel"],
    ] as const) {
      const { status, detail } = await names(model, provider);
      expect([status, detail.code]).toEqual([409, "ROUTE_UNAVAILABLE"]);
      expect(detail.details.field).toBe(`execution.executionConstraints.${field}`);
    }
  });

  test("credentialSource says whose account pays, and may not contradict billingMode", async () => {
    expect((await run({ input, credentialSource: "customer" })).job.pricing.mode).toBe("byok");
    expect((await run({ input, credentialSource: "platform" })).job.pricing.mode).toBe("managed");
    const { status, detail } = await refused("jobs", {
      input,
      credentialSource: "customer",
      billingMode: "managed",
    });
    expect([status, detail[0].loc]).toEqual([422, ["body", "execution", "credentialSource"]]);
  });

  test("only the automatic preference", async () => {
    for (const executionPreference of ["fastest", "cheapest", "maximum_quality", "x"]) {
      const { status, detail } = await refused("jobs", { input, execution: { executionPreference } });
      expect([status, detail[0].loc]).toEqual([422, ["body", "execution", "executionPreference"]]);
    }
  });

  test("maturity: on job and receipt; a project may have a default; lower routes are not chosen", async () => {
    const said = { maturityRating: "R", matureContentTraits: ["graphic_violence"] };
    const { job, receipt } = await run({ input, ...said });
    expect(job).toMatchObject({ ...said, maturitySource: "explicit_invocation" });
    expect(receipt.maturity).toEqual({
      rating: "R",
      traits: ["graphic_violence"],
      source: "explicit_invocation",
    });
    expect((await run({ input })).job).toMatchObject({ maturityRating: null, maturitySource: null });
    await settings(tenant.projectId, { maturityRating: "PG13" });
    const standard = await run({ input });
    expect(standard.job).toMatchObject({ maturityRating: "PG13", maturitySource: "project_default" });
    expect(standard.receipt.maturity).toEqual({ rating: "PG13", traits: [], source: "project_default" });
    await settings(tenant.projectId, {});

    const model = providers
      .find(({ name }) => name === "sandbox")!
      .models.find(({ id, port }) => id === "sandbox-1" && port === "text")!;
    model.maturity = "PG13";
    try {
      for (const field of [{ maturityRating: "R" }, { matureContentTraits: ["sexual_explicit"] }]) {
        expect((await run({ input, ...field })).receipt.route.model).toBe("sandbox-2");
        const { status, detail } = await refused("jobs", { input, ...field, preferredModel: "sandbox-1" });
        expect([status, detail.code, detail.details.highest]).toEqual([400, "PolicyRejected", "PG13"]);
        expect(detail.recovery.alternates).toEqual(["sandbox/sandbox-2"]);
      }
      expect((await run({ input, maturityRating: "PG" })).receipt.route.model).toBe("sandbox-1");
    } finally {
      delete model.maturity;
    }
  });
});

describe("ceilings of a call", () => {
  test("each prevents alone; warn warns, off is silent, and the stricter of two modes holds", async () => {
    const low = [
      { maxCostUsd: 0.000001 },
      { budget: { maximumEstimatedCost: 0.000001 } },
      { maximumCharge: { amountMicros: 1, currency: "USD" } },
      { maximumCharge: { amountUsd: 0.000001 } },
      { maximumCharge: { amountMinor: 0 } },
      {
        maxCostUsd: 0.000001,
        budget: { enforcement: "off" },
        execution: { executionConstraints: { budgetEnforcement: "prevent" } },
      },
    ];
    for (const body of low) {
      const { status, detail } = await refused("jobs", { input, ...body });
      expect([status, detail.code, detail.details.scope]).toEqual([402, "BudgetExceeded", "call"]);
    }
    const warned = await run({ input, budget: { enforcement: " WARN ", maximumEstimatedCost: 0.000001 } });
    expect(warned.job.warnings).toEqual([expect.objectContaining({ code: "BudgetExceeded", scope: "call" })]);
    const off = await run({ input, budget: { enforcement: "off", maximumEstimatedCost: 0.000001 } });
    expect(off.job.warnings).toEqual([]);
    const { detail } = await refused("jobs", {
      input,
      maximumCharge: { amountMicros: 1e9, currency: "EUR" },
    });
    expect(detail[0].loc).toEqual(["body", "execution", "maximumCharge", "currency"]);
  });

  test("queueDeadlineSeconds ends a job that no one starts", async () => {
    const { json } = await tenant.post(at(TEXT, "jobs"), {
      input,
      execution: { executionConstraints: { queueDeadlineSeconds: 5 } },
    });
    const clock = testClock();
    clock.advance(6_000);
    await jobs.sweep(systemCtx("test", clock.now), tenant);
    const job = (await tenant.get(`/v1/jobs/${json.jobId}`)).json;
    expect(job).toMatchObject({
      status: "failed",
      error: { code: "QueueTimeout" },
      retry: { newKeySafe: true },
    });
  });
});

describe("stored inputs", () => {
  const store = async (body: object) => (await tenant.post("/v1/payloads", body)).json.payloadId as string;

  test("the same content inline or by reference is the same request, on jobs, invoke and quote", async () => {
    const content = say("By reference.");
    const ref = await store(content);
    const idempotencyKey = newId("request");
    const inline = await tenant.post(at(TEXT, "jobs"), { input: content, idempotencyKey });
    const stored = await tenant.post(at(TEXT, "jobs"), { inputPayloadRef: ref, idempotencyKey });
    expect(stored.json).toEqual({ ...inline.json, idempotency: { source: "client", replayed: true } });
    const both = await tenant.post(at(TEXT, "jobs"), {
      input: content,
      inputPayloadRef: ref,
      idempotencyKey,
    });
    expect(both.json.jobId).toBe(inline.json.jobId);
    const { request, receipt, sent } = await run({ inputPayloadRef: ref });
    expect(request.request.input).toEqual(content);
    expect(request.request).not.toHaveProperty("inputPayloadRef");
    expect(receipt.inputHash).toBe(sha256Hex(canonicalText(content)));
    expect(sent[0].messages).toEqual(content.messages);
    const answer = await tenant.post(at(TEXT, "invoke"), { inputPayloadRef: ref });
    expect(answer.json.status).toBe("succeeded");
    const [one, other] = [
      await tenant.post(at(TEXT, "quote"), { inputPayloadRef: ref }),
      await tenant.post(at(TEXT, "quote"), { input: content }),
    ];
    expect(one.json.pricingInputFingerprint).toBe(other.json.pricingInputFingerprint);
    expect(one.json.status).toBe("ok");
  });

  test("another input beside it is a conflict; another tenant's, another kind and none are one answer", async () => {
    const ref = await store(say("Mine."));
    const conflict = await refused("jobs", { input: say("Other."), inputPayloadRef: ref });
    expect([conflict.status, conflict.detail[0].loc]).toEqual([422, ["body", "inputPayloadRef"]]);
    const foreign = await makeTenant();
    const theirs = (await foreign.post("/v1/payloads", say("Theirs."))).json.payloadId;
    const { result } = await run({ input });
    const sister = await call("POST", `/v1/payloads?projectId=${tenant.otherProjectId}`, {
      key: tenant.unboundKey,
      body: say("Of the other project."),
    });
    const absent = await refused("jobs", { inputPayloadRef: newId("payload") });
    expect([absent.status, absent.detail[0].loc]).toEqual([422, ["body", "inputPayloadRef"]]);
    for (const inputPayloadRef of [theirs, result.outputPayloadRef, sister.json.payloadId, "x"])
      for (const what of ["jobs", "invoke", "quote"])
        expect(await refused(what, { inputPayloadRef })).toEqual(absent);
    const bare = await refused("jobs", { inputPayloadRef: ref, prompt: "x" });
    expect(bare.detail).toMatchObject({ code: "UNKNOWN_EXECUTION_FIELD", path: "prompt" });
  });

  test("what is stored is encrypted, and its name ends with its time", async () => {
    const ref = await store(say("A secret of mine."));
    const { rows } = await pool.query("SELECT content, is_sealed FROM payload WHERE id = $1", [ref]);
    expect(rows[0].is_sealed).toBe(true);
    expect(rows[0].content).not.toContain("secret");
    await pool.query("UPDATE payload SET expires_at = now() - interval '1 second' WHERE id = $1", [ref]);
    expect((await refused("jobs", { inputPayloadRef: ref })).detail[0].loc).toEqual([
      "body",
      "inputPayloadRef",
    ]);
  });
});

describe("classes of content", () => {
  for (const dataClassification of ["Internal", "Manuscript"])
    test(`a large request of ${dataClassification} is stored whole, and repeats by its key`, async () => {
      const input = say(`${"Añ😀\n".repeat(20_000)}The hero dies.`);
      const body = { input, context: { dataClassification }, idempotencyKey: newId("payload") };
      const first = await tenant.post(at(TEXT, "jobs"), body);
      expect(first.status, JSON.stringify(first.json)).toBe(200);
      const { jobId } = first.json;
      expect((await tenant.post(at(TEXT, "jobs"), body)).json.jobId).toBe(jobId);
      expect((await tenant.get(`/v1/jobs/${jobId}/request`)).json.request.input).toEqual(input);
    });

  for (const context of [
    { dataClassification: "PrivateUserContent" },
    { dataClassification: "Manuscript" },
    { retentionRequirement: "EncryptedShortTerm" },
  ]) {
    test(`${Object.values(context)} is encrypted in the database and reads in the clear`, async () => {
      const { job, jobId, request, result, receipt } = await run({ input: say("The hero dies."), context });
      expect(receipt).toMatchObject(context);
      expect(job.requestSnapshot.input.prompt).toBe("The hero dies.");
      expect(request.request.input).toEqual(say("The hero dies."));
      expect(result.typedOutput.content).toMatch(/\S/);
      const { rows } = await pool.query<{ content: string; is_sealed: boolean }>(
        "SELECT content, is_sealed FROM payload WHERE job_id = $1",
        [jobId],
      );
      expect(rows).toHaveLength(2);
      for (const row of rows) {
        expect(row.is_sealed).toBe(true);
        expect(row.content).not.toMatch(/hero|content|messages/);
      }
      const invoked = await tenant.post(at(TEXT, "invoke"), {
        input: say("The hero dies."),
        context,
        idempotencyKey: jobId,
      });
      const again = await tenant.post(at(TEXT, "invoke"), {
        input: say("The hero dies."),
        context,
        idempotencyKey: jobId,
      });
      expect(again.json.typedOutput).toEqual(invoked.json.typedOutput);
    });
  }

  test("other classes are in the clear", async () => {
    for (const dataClassification of ["Public", "Internal", "Confidential"]) {
      const { jobId, receipt } = await run({ input, context: { dataClassification } });
      expect(receipt.dataClassification).toBe(dataClassification);
      const { rows } = await pool.query("SELECT is_sealed FROM payload WHERE job_id = $1", [jobId]);
      expect(rows).toEqual([{ is_sealed: false }, { is_sealed: false }]);
    }
  });
});

describe("modes", () => {
  test("executionMode of an invoke", async () => {
    const ask = (executionMode: string) => tenant.post(at(TEXT, "invoke"), { input, executionMode });
    expect((await ask("RequestResponse")).json.status).toBe("succeeded");
    expect((await ask("DurableJob")).json.detail).toMatchObject({ code: "USE_JOBS" });
    const workflow = await ask("ProductionWorkflow");
    expect([workflow.status, workflow.json.detail[0].loc]).toEqual([422, ["body", "executionMode"]]);
    const onJobs = await refused("jobs", { input, executionMode: "RequestResponse" });
    expect(onJobs.detail).toMatchObject({ code: "UNKNOWN_EXECUTION_FIELD", path: "executionMode" });
  });
});
