import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { providers } from "@/server/providers/registry.gen";
import { makeTenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { testClock } from "@/testing/world";
import { at, input, openTenant, refused, run, TEXT, tap, tenant } from "./envelope.fixture";

/*
 * Each field of the envelope has a visible effect: on the job, its request, its receipt, or in the request that the provider
 * received.
 */

const MATH = "compute.evaluate.v1";
const IMAGE = "image.generate.v1";

beforeAll(openTenant);
afterAll(() => tap.stop());

const settings = (projectId: string, values: object) =>
  pool.query("UPDATE project SET settings = $2 WHERE id = $1", [projectId, JSON.stringify(values)]);

describe("the caller's own labels", () => {
  const words = {
    externalRef: "order-0815",
    tags: ["blue", "urgent"],
    metadata: { cost: { center: 7 } },
    correlationId: "corr-0815",
    taskKind: "kind-0815",
  };

  test("labels are on job, request and receipt, and never sent to a provider", async () => {
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

  test("a synchronous answer repeats the labels", async () => {
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

  test("a setting may lower a limit of the labels, and an invalid setting counts as the published limit", async () => {
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

describe("fields for the provider", () => {
  const tool = { type: "function", name: "depth", parameters: { type: "object", properties: {} } };
  const schema = { type: "object", properties: { depth: { type: "number" } }, required: ["depth"] };

  test("toolSchemas, responseSchema and sampling are sent unchanged", async () => {
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

  test("a field that the route does not support is refused by its name, before anything is stored", async () => {
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
  test("a pin is used exactly, or refused with the available routes", async () => {
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

  test("a model and a provider that do not fit together are refused under the name of the one that cannot be met", async () => {
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

  test("credentialSource names the account that pays, and may not contradict billingMode", async () => {
    expect((await run({ input, credentialSource: "customer" })).job.pricing.mode).toBe("byok");
    expect((await run({ input, credentialSource: "platform" })).job.pricing.mode).toBe("managed");
    const { status, detail } = await refused("jobs", {
      input,
      credentialSource: "customer",
      billingMode: "managed",
    });
    expect([status, detail[0].loc]).toEqual([422, ["body", "execution", "credentialSource"]]);
  });

  test("only the automatic preference is accepted", async () => {
    for (const executionPreference of ["fastest", "cheapest", "maximum_quality", "x"]) {
      const { status, detail } = await refused("jobs", { input, execution: { executionPreference } });
      expect([status, detail[0].loc]).toEqual([422, ["body", "execution", "executionPreference"]]);
    }
  });

  test("maturity is on job and receipt, a project may have a default, and lower routes are not chosen", async () => {
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
  test("each ceiling prevents alone, warn warns, off is silent, and the stricter of two modes applies", async () => {
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

  test("queueDeadlineSeconds ends a job that has not started", async () => {
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

describe("modes", () => {
  test("executionMode of an invoke must match its capability", async () => {
    const ask = (executionMode: string) => tenant.post(at(TEXT, "invoke"), { input, executionMode });
    expect((await ask("RequestResponse")).json.status).toBe("succeeded");
    expect((await ask("DurableJob")).json.detail).toMatchObject({ code: "USE_JOBS" });
    const workflow = await ask("ProductionWorkflow");
    expect([workflow.status, workflow.json.detail[0].loc]).toEqual([422, ["body", "executionMode"]]);
    const onJobs = await refused("jobs", { input, executionMode: "RequestResponse" });
    expect(onJobs.detail).toMatchObject({ code: "UNKNOWN_EXECUTION_FIELD", path: "executionMode" });
  });
});
