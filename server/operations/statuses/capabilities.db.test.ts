import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { pool } from "@/server/platform/db";
import { newId, ulid } from "@/server/platform/ids";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { makeTenant } from "@/testing/api";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { refusesWhatCannotBePlanned } from "./refusals.fixture";
import { at, get, IMAGE, input, MATH, openTenant, post, say, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  const target = path.replace("{capability_key}", TEXT);
  if (method === "GET") return { method, target };
  if (path === "/v1/capabilities/resolve") return { method, target, body: { intent: "draw a picture" } };
  if (path.endsWith("/plan")) return { method, target, body: { input: { prompt: "A kite" } } };
  return { method, target, body: { input } };
}

everyEndpoint("capabilities", { sample });

describe("discovery", () => {
  test("the catalog accepts q and view, and refuses invalid values", async () => {
    const { json } = await get(200, "/v1/capabilities?view=summary&q=draw%20a%20picture");
    expect(json.capabilities[0]).toMatchObject({ key: IMAGE });
    await get([422, "list"], "/v1/capabilities?q=a&q=b");
    await get([422, "list"], `/v1/capabilities?q=${"x".repeat(501)}`);
    expect((await get(200, "/v1/capabilities")).json.capabilities[0]).toHaveProperty("uiSchema");
    expect((await ask(200, "GET", "/v1/capabilities")).json.capabilities[0]).not.toHaveProperty("uiSchema");
  });

  test("anyone can resolve an intent, and an unknown field is 422", async () => {
    const target = "/v1/capabilities/resolve";
    const body = { intent: "draw a picture", requirements: { runnableNow: true } };
    for (const key of [undefined, tenant.key]) {
      const { json } = await ask(200, "POST", target, { key, body });
      expect(json.matches[0]).toMatchObject({ capabilityKey: IMAGE });
    }
    const closed = await ask([422, "list"], "POST", target, { body: { ...body, budget: 1 } });
    expect(closed.json.detail[0].loc).toEqual(["body", "budget"]);
    const unknown = { intent: "x", requirements: { cheap: true } };
    const refused = await ask([422, "list"], "POST", target, { body: unknown });
    expect(refused.json.detail[0].loc).toEqual(["body", "requirements", "cheap"]);
  });

  for (const [method, what] of [
    ["GET", ""],
    ["GET", "/execution-targets"],
    ["GET", "/benchmarks"],
    ["GET", "/openapi.json"],
    ["POST", "/quote"],
    ["POST", "/estimate"],
    ["POST", "/invoke"],
    ["POST", "/jobs"],
  ] as const) {
    test(`${method} /v1/capabilities/{capability_key}${what}: 404 names the nearest keys`, async () => {
      const body = method === "POST" ? { body: { input } } : {};
      const refused = await ask(
        [404, "UNKNOWN_CAPABILITY"],
        method,
        `/v1/capabilities/image.generat.v1${what}`,
        {
          key: tenant.key,
          ...body,
        },
      );
      expect(refused.json.detail.details.nearestMatches[0]).toBe(IMAGE);
    });
  }

  test("a caller that has the current catalog gets 304", async () => {
    for (const path of [
      "",
      `/${TEXT}`,
      `/${TEXT}/execution-targets`,
      `/${TEXT}/benchmarks`,
      `/${TEXT}/openapi.json`,
    ]) {
      const { headers } = await get(200, `/v1/capabilities${path}`);
      await get(304, `/v1/capabilities${path}`, { headers: { "if-none-match": headers.etag ?? "" } });
    }
  });

  test("invoke_stream is published and accepted for capabilities that stream text, and for no others", async () => {
    const { json } = await get(200, `/v1/capabilities/${TEXT}`);
    expect(json.executionModes).toEqual(["invoke_sync", "invoke_stream", "job_async"]);
    const { json: running } = await post(200, at(TEXT, "invoke"), { input, executionMode: "Stream" });
    expect(running).toMatchObject({ status: "running", dispatchStatus: "streaming", receiptId: null });
    await get(200, `/v1/executions/${running.executionId}/events`);
    const math = await get(200, `/v1/capabilities/${MATH}`);
    expect(math.json.executionModes).not.toContain("invoke_stream");
    const refused = await post([422, "list"], at(MATH, "invoke"), {
      input: { expression: "1" },
      executionMode: "Stream",
    });
    expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "executionMode"], type: "unsupported" });
  });
});

for (const what of ["quote", "estimate"] as const) refusesWhatCannotBePlanned(what);

describe("POST /v1/capabilities/image.generate.v1/plan", () => {
  test("a picture of a maturity that no provider here allows is 400", async () => {
    const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
    const maturity = sandbox.maturity;
    sandbox.maturity = "PG";
    try {
      const body = { input: { prompt: "A kite" }, maturityRating: "NC17" };
      const { json } = await post([400, "PolicyRejected"], at(IMAGE, "plan"), body);
      expect(json.detail.details).toMatchObject({ field: "maturityRating", highest: "PG" });
    } finally {
      sandbox.maturity = maturity;
    }
  });

  const sheet = { rows: 2, columns: 3, slice: true, labels: ["sword", "ein Schild", "sword"] };
  const normalize = { width: 300, height: 512 };

  test("a plan has the canvas, each cell with its place, label and file name, the route and the price", async () => {
    const before = await pool.query("SELECT count(*) FROM job WHERE project_id = $1", [tenant.projectId]);
    const { json } = await post(200, at(IMAGE, "plan"), {
      input: {
        prompt: "Things to carry",
        requestTransparentOutput: true,
        keyColor: "#00ff00",
        sheet: { ...sheet, normalize },
      },
      execution: { billingMode: "managed" },
    });
    expect(json).toMatchObject({
      capabilityKey: IMAGE,
      canvas: { width: 912, height: 1024 },
      providerCalls: 1,
      images: 1,
      transparency: {
        method: "matte-v9",
        keyColor: "#00ff00",
        transparentRegions: "borderConnected",
      },
      sheet: { rows: 2, columns: 3, slice: true, cellSize: normalize, center: true },
      artifacts: { count: 7, kinds: ["composite-sheet", "sheet-cell"] },
      route: { key: "sandbox/sandbox-1" },
      billingMode: "managed",
      estimate: { chargeBasis: { amountMicros: 40_000 }, expectedCharge: { amountMicros: 42_400 } },
      spending: "none",
    });
    type Cell = { sliceCellId: string; label: string | null; filename: string; rectangle: object };
    expect(json.sheet.cells.map((cell: Cell) => [cell.sliceCellId, cell.label, cell.filename])).toEqual([
      ["r1c1", "sword", "sword.png"],
      ["r1c2", "ein Schild", "ein-Schild.png"],
      ["r1c3", "sword", "sword-r1c3.png"],
      ["r2c1", null, "r2c1.png"],
      ["r2c2", null, "r2c2.png"],
      ["r2c3", null, "r2c3.png"],
    ]);
    expect(json.sheet.cells.at(-1)).toMatchObject({
      rectangle: { x: 608, y: 512, width: 304, height: 512 },
      output: normalize,
    });
    expect(JSON.stringify(json.addedToPrompt)).not.toMatch(/sword|Schild/);
    const after = await pool.query("SELECT count(*) FROM job WHERE project_id = $1", [tenant.projectId]);
    expect(after.rows).toEqual(before.rows);
  });

  const refusals: [ExpectedStatus, Record<string, unknown>][] = [
    [[422, "list"], { input: { prompt: "" } }],
    [[422, "list"], { input: { prompt: "x", sheet, variantCount: 2 } }],
    [[422, "UNKNOWN_INPUT_FIELD"], { input: { prompt: "x", adapter: [] } }],
    [[422, "list"], { input: { prompt: "x", adapters: [{ alias: "unknown" }] } }],
    [[422, "UNKNOWN_EXECUTION_FIELD"], { input: { prompt: "x" }, preferedModel: "x" }],
    [
      [422, "CONFLICTING_EXECUTION_CONSTRAINT"],
      {
        input: { prompt: "x" },
        preferredModel: "sandbox-1",
        execution: { executionConstraints: { preferredModel: "sandbox-2" } },
      },
    ],
    [[422, "PromptTooLong"], { input: { prompt: "x".repeat(32_001) } }],
    [[422, "PromptTooLong"], { input: { prompt: "x".repeat(31_990), sheet } }],
    [[402, "BudgetExceeded"], { input: { prompt: "x" }, maxCostUsd: 0.000001 }],
    [[409, "ROUTE_UNAVAILABLE"], { input: { prompt: "x" }, preferredModel: "gone-1" }],
    [[409, "CONNECTION_REQUIRED"], { input: { prompt: "x" }, preferredModel: "gpt-image-2" }],
    [[409, "QUOTE_MISMATCH"], { input: { prompt: "x" }, quoteId: newId("quote") }],
    [
      [409, "ESTIMATE_MISMATCH"],
      { input: { prompt: "x" }, execution: { quoteId: newId("quote"), estimateId: newId("quote") } },
    ],
    [[403, "AuthorizationFailed"], { input: { prompt: "x" }, context: { projectId: newId("project") } }],
  ];

  test.each(refusals)("a plan is refused as a job is: %j", async (wanted, body) => {
    const [planned, submitted] = [
      await post(wanted, at(IMAGE, "plan"), body),
      await post(wanted, at(IMAGE, "jobs"), body),
    ];
    expect(planned.json.detail).toEqual(submitted.json.detail);
  });

  test("an unbound key that names no project is 422", async () => {
    const body = { input: { prompt: "x" } };
    await ask([422, "PROJECT_REQUIRED"], "POST", at(IMAGE, "plan"), { key: tenant.unboundKey, body });
  });
});

test("a prompt counted in characters is 422 over its limit", async () => {
  for (const what of ["quote", "estimate", "jobs"]) {
    const fits = await post(200, at(IMAGE, "quote"), { prompt: "😀".repeat(32_000) });
    expect(fits.json.status).toBe("ok");
    const refused = await post([422, "PromptTooLong"], at(IMAGE, what), { prompt: "x".repeat(32_001) });
    expect(refused.json.detail).toMatchObject({
      field: "input.prompt",
      measurement: "characters",
      overflow: "reject",
      actualCharacters: 32_001,
      maxCharacters: 32_000,
      retryable: false,
    });
  }
});

describe("quotes", () => {
  test("quote and estimate return the same", async () => {
    const [one, other] = [
      await post(200, at(TEXT, "quote"), { input }),
      await post(200, at(TEXT, "estimate"), { input }),
    ];
    expect(one.json.pricingInputFingerprint).toBe(other.json.pricingInputFingerprint);
    expect(one.json).toMatchObject({
      status: "ok",
      spending: "none",
      pricing: { quote: { qualifier: "upper_bound" } },
    });
    expect(one.json.quoteId).not.toBe(other.json.quoteId);
  });

  test("an unbound key names its project in the body or in the query", async () => {
    const key = tenant.unboundKey;
    const { projectId } = tenant;
    await ask(200, "POST", `${at(IMAGE, "quote")}?projectId=${projectId}`, { key, body: { prompt: "x" } });
    await ask(200, "POST", at(IMAGE, "quote"), {
      key,
      body: { input: { prompt: "x" }, context: { projectId } },
    });
  });

  test("a request without fields that set the price gets a list of the missing ones", async () => {
    const { json } = await post(200, at(IMAGE, "quote"), {});
    expect(json).toMatchObject({
      status: "pricing_inputs_required",
      missing: ["/input/prompt"],
      quoteId: null,
    });
  });

  test("another tenant's project in the query is 403, even with the caller's own in the body", async () => {
    const context = { projectId: tenant.projectId };
    const foreign = (await makeTenant()).projectId;
    const competitors = [1, 2].map((n) => ({ axis: "provider", providerPin: `sandbox/sandbox-${n}` }));
    for (const [what, body] of [
      ["quote", { input }],
      ["estimate", { input }],
      ["comparisons/estimate", { input, competitors }],
    ] as const)
      for (const key of [tenant.key, tenant.unboundKey]) {
        const asked = (projectId: string) => `${at(TEXT, what)}?projectId=${projectId}`;
        const own = { key, body: { ...body, context } };
        await ask([403, "AuthorizationFailed"], "POST", asked(foreign), own);
        await ask([403, "AuthorizationFailed"], "POST", asked(newId("project")), own);
        await ask(200, "POST", asked(tenant.projectId), own);
      }
  });

  /** A copy of a quote with these changes, which expires after this interval. */
  const altered = async (quoteId: string, body: object, interval = "1 minute") => {
    const id = newId("quote");
    await pool.query(
      `INSERT INTO retail_quote (id, project_id, principal_id, hash, body, created_at, expires_at)
       SELECT $2, project_id, principal_id, hash, body || $3::jsonb, created_at, now() + $4::interval FROM retail_quote WHERE id = $1`,
      [quoteId, id, JSON.stringify(body), interval],
    );
    return id;
  };

  test("a quote from an older price list is 409 and must be made again", async () => {
    for (const [key, what, body] of [
      [TEXT, "jobs", { input }],
      [TEXT, "invoke", { input }],
      [IMAGE, "plan", { input: { prompt: "x" } }],
    ] as const) {
      const { quoteId } = (await post(200, at(key, "quote"), body)).json;
      const older = await altered(quoteId, { pricingVersion: "price_2026_07_1" });
      const refused = await post([409, "REESTIMATE_REQUIRED"], at(key, what), { ...body, quoteId: older });
      expect(refused.json.detail.details).toMatchObject({
        reason: "pricing_version",
        quotedPricingVersion: "price_2026_07_1",
      });
    }
  });

  test("two quote ids that differ are 409", async () => {
    const execution = { quoteId: newId("quote"), estimateId: newId("quote") };
    for (const what of ["quote", "estimate", "jobs", "invoke"])
      await post([409, "ESTIMATE_MISMATCH"], at(TEXT, what), { input, execution });
  });

  for (const what of ["jobs", "invoke"]) {
    test(`an invalid quote on ${what} is 409, with the reason`, async () => {
      const { quoteId } = (await post(200, at(TEXT, "quote"), { input })).json;
      const reason = async (body: Record<string, unknown>) =>
        (await post([409, "QUOTE_MISMATCH"], at(TEXT, what), body)).json.detail.details.reason;
      expect(await reason({ ...say("Another question."), quoteId })).toBe("changed");
      expect(await reason({ input, quoteId: newId("quote") })).toBe("unknown");
      expect(await reason({ input, estimateId: `cq_${ulid()}` })).toBe("commission_quote");
      const expired = await altered(quoteId, {}, "-1 second");
      expect(await reason({ input, quoteId: expired })).toBe("expired");
    });
  }
});

everyStatusHasACase("capabilities");
