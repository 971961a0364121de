import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import { newId, ulid } from "@/server/platform/ids";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { type Call, makeTenant } from "@/testing/api";
import { COMPARED, COMPARISONS, compared, pinned as pinnedTo } from "@/testing/comparisons";
import { type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, MATH, openTenant, post, settings, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A judged comparison, and its verdict. */
let judged: Awaited<ReturnType<typeof compared>>;
beforeAll(async () => {
  judged = await compared(tenant, true);
}, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  const target = path.replace("{capability_key}", TEXT).replace("{comparison_id}", judged.comparisonId);
  if (method === "GET") return { method, target };
  if (path.endsWith("/judgements")) return { method, target, body: judged.winner };
  const { competitors, input } = COMPARED;
  return { method, target, body: path.endsWith("/estimate") ? { competitors, input } : COMPARED };
}

everyEndpoint("comparisons", { sample });

describe("comparisons", () => {
  const { competitors, input } = COMPARED;
  const [first, second] = competitors;
  const create = (wanted: ExpectedStatus, more: object = {}, options: Call = {}) =>
    post(wanted, COMPARISONS, { ...COMPARED, ...more }, options);
  const bodies = [
    { target: COMPARISONS, of: (more: object) => ({ ...COMPARED, ...more }) },
    { target: `${COMPARISONS}/estimate`, of: (more: object) => ({ competitors, input, ...more }) },
  ];

  for (const { target, of } of bodies) {
    test(`${target} returns 422 at the invalid competitor`, async () => {
      for (const [more, loc] of [
        [{ competitors: [first] }, ["competitors"]],
        [{ competitors: pinnedTo("1", "2", "slow", "busy", "fail") }, ["competitors"]],
        [{ competitors: [first, {}] }, ["competitors", 1, "axis"]],
        [{ competitors: [first, { axis: "vendor" }] }, ["competitors", 1, "axis"]],
        [{ competitors: [first, { axis: "provider", providerPin: " " }] }, ["competitors", 1, "providerPin"]],
        [
          { competitors: [first, { axis: "provider", providerPin: "sandbox-image" }] },
          ["competitors", 1, "providerPin"],
        ],
        [
          { competitors: [first, { axis: "provider", providerPin: "unknown" }] },
          ["competitors", 1, "providerPin"],
        ],
        [
          { competitors: [first, { axis: "profile", profileKey: "quick" }] },
          ["competitors", 1, "profileKey"],
        ],
        [
          { competitors: [first, { axis: "profile", profileKey: "reasoning-deep", profileVersion: "0" }] },
          ["competitors", 1, "profileVersion"],
        ],
        [{ competitors: [second, first, second] }, ["competitors", 2]],
        [{ input: {} }, ["competitors", 0, "input", "messages"]],
        [
          { competitors: [first, { axis: "recipe", inputOverrides: { messages: "none" } }] },
          ["competitors", 1, "inputOverrides", "messages"],
        ],
        [{ input: { ...input, maxOutputTokens: 0 } }, ["competitors", 0, "input", "maxOutputTokens"]],
      ] as const) {
        const { json } = await post([422, "list"], target, of(more));
        expect(json.detail[0].loc, JSON.stringify(more)).toEqual(["body", ...loc]);
      }
    });

    test(`${target} names the competitor whose plan is refused`, async () => {
      const refuse = async (wanted: ExpectedStatus, more: object) =>
        (await post(wanted, target, of(more))).json.detail;
      const recipe = (inputOverrides: object) => ({
        competitors: [first, { axis: "recipe", inputOverrides }],
      });
      const unknown = await refuse([422, "UNKNOWN_INPUT_FIELD"], recipe({ temprature: 1 }));
      expect(unknown.details).toMatchObject({ fields: ["input.temprature"], competitor: 1 });
      const long = [{ role: "user", content: "x".repeat(1_000_000) }];
      expect(await refuse([422, "PromptTooLong"], recipe({ messages: long }))).toMatchObject({
        competitor: 1,
      });
      const gone = await refuse([409, "ROUTE_UNAVAILABLE"], { competitors: [first, ...pinnedTo("gone")] });
      expect(gone.details).toMatchObject({ field: "competitors.1.providerPin", competitor: 1 });
      const openai = { axis: "provider", providerPin: "openai-text" };
      const unconnected = await refuse([409, "CONNECTION_REQUIRED"], { competitors: [first, openai] });
      expect(unconnected.details).toMatchObject({ provider: "openai", competitor: 1 });
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const { maturity } = sandbox;
      sandbox.maturity = "PG";
      try {
        await settings(tenant.projectId, { maturityRating: "R" });
        expect((await refuse([400, "PolicyRejected"], {})).details).toMatchObject({ competitor: 0 });
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test(`${target} returns 400 for a capability without jobs, 404 for an unknown one, 422 and 403 for a project`, async () => {
      const elsewhere = (key: string) => target.replace(TEXT, key);
      const { json } = await post([400, "USE_INVOKE"], elsewhere(MATH), of({ input: { expression: "1" } }));
      expect(json.detail.details).toEqual({ invoke: at(MATH, "invoke") });
      await post([404, "UNKNOWN_CAPABILITY"], elsewhere("text.nothing.v1"), of({}));
      await post([422, "PROJECT_REQUIRED"], target, of({}), { key: tenant.unboundKey });
    });
  }

  test("create returns 422 for an invalid comparison, with the field, and 403 for a project or an environment", async () => {
    for (const [more, field] of [
      [{ intent: "for fun" }, "intent"],
      [{ workloadTags: [] }, "workloadTags"],
      [{ tags: "one" }, "tags"],
      [{ tags: [1] }, "tags"],
      [{ tags: Array(33).fill("x") }, "tags"],
      [{ tags: ["a", "x".repeat(257)] }, "tags"],
      [{ workloadTags: { a: "x".repeat(20_000) } }, "workloadTags"],
      [{ idempotencyKey: "k".repeat(256) }, "idempotencyKey"],
      [{ more: 1 }, "more"],
      [{ execution: {} }, "execution"],
    ] as const) {
      const { json } = await create([422, "list"], more);
      expect(json.detail[0].loc.slice(0, 2), JSON.stringify(more)).toEqual(["body", field]);
    }
    for (const context of [{ projectId: tenant.otherProjectId }, { environment: "production" }])
      await create([403, "AuthorizationFailed"], { context });
  });

  test("create returns 409 for another comparison under the same key, and 200 for the same, in the body or the header", async () => {
    const { json } = await create(200, { idempotencyKey: "sea" });
    expect((await create(200, { idempotencyKey: "sea" })).json).toEqual(json);
    const named = { headers: { "idempotency-key": "sea" } };
    expect((await create(200, {}, named)).json).toEqual(json);
    expect((await create(200, { idempotencyKey: "sea", tags: [] })).json).toEqual(json);
    for (const other of [{ intent: "golden_regression" }, { tags: ["a"] }]) {
      const refused = await create([409, "IdempotencyConflict"], { idempotencyKey: "sea", ...other });
      expect(refused.json.detail.details).toEqual({ jobId: json.comparisonId });
    }
    await create([422, "list"], { idempotencyKey: "lake" }, named);
  });

  test("create stores tags, which the comparison and the list of jobs show", async () => {
    const tags = ["bake-off", `run ${ulid()}`];
    const { json } = await create(200, { tags });
    expect(json.tags).toEqual(tags);
    expect((await get(200, `/v1/comparisons/${json.comparisonId}`)).json.tags).toEqual(tags);
    const { items } = (await get(200, `/v1/jobs?tag=${encodeURIComponent(tags[1]!)}`)).json;
    const found = items.map(({ jobId }: { jobId: string }) => jobId);
    expect(found.toSorted()).toEqual(json.entries.map(({ jobId }: { jobId: string }) => jobId).toSorted());
  });

  test("create returns 402 without funds, or if a budget covers only one entry, and writes nothing", async () => {
    const poor = await makeTenant({ walletMicros: 0 });
    await create([402, "funding_required"], {}, { key: poor.key });
    const { key, projectId } = await makeTenant();
    const limits = { period: "total", ceilingMicros: 6_000, enforcement: "prevent" } as const;
    await budgets.set(systemCtx("test"), { owner: { projectId }, ...limits });
    await create([402, "BudgetExceeded"], {}, { key });
    expect((await get(200, "/v1/jobs", { key })).json.items).toEqual([]);
    const { competitors } = (await post(200, `${COMPARISONS}/estimate`, bodies[1]?.of({}), { key })).json;
    for (const { maximumCostMicros } of competitors) expect(maximumCostMicros).toBeGreaterThan(5_000);
  });

  test("options lists the possible competitors; an unknown capability is 404, and a missing project 422", async () => {
    const target = `${COMPARISONS}/competitor-options`;
    const { json } = await get(200, target);
    expect(json).toMatchObject({
      axes: ["provider", "recipe", "profile"],
      defaultCompetitors: [{ axis: "provider", providerPin: "sandbox-text" }],
      recipes: { supported: true, inputFields: expect.arrayContaining(["messages", "maxOutputTokens"]) },
    });
    const local = (await get(200, target.replace(TEXT, MATH))).json;
    expect(local).toMatchObject({ axes: [], providers: [], recipes: { supported: false } });
    await get([404, "UNKNOWN_CAPABILITY"], target.replace(TEXT, "text.nothing.v1"));
    await get([422, "PROJECT_REQUIRED"], target, { key: tenant.unboundKey });
    await get([403, "AuthorizationFailed"], `${target}?projectId=${tenant.otherProjectId}`);
  });

  test("judge returns 409 while the comparison runs and after another verdict, 422 for a competitor that cannot win, 404 for an unknown one", async () => {
    const { json: running } = await create(200);
    const of = (id: string) => `/v1/comparisons/${id}/judgements`;
    const none = { decision: "none" };
    const refused = await post([409, "JobNotFinished"], of(running.comparisonId), none);
    expect(refused.json.detail.details).toEqual({ status: "running" });
    const done = await compared(tenant, false);
    for (const [body, field] of [
      [{ decision: "draw" }, "decision"],
      [{ decision: "winner" }, "overallWinnerEntryId"],
      [{ decision: "winner", overallWinnerEntryId: newId("comparisonEntry") }, "overallWinnerEntryId"],
      [{ decision: "winner", overallWinnerEntryId: judged.entryIds[0] }, "overallWinnerEntryId"],
      [{ ...done.winner, valueWinnerEntryId: judged.entryIds[0] }, "valueWinnerEntryId"],
      [{ decision: "tie", overallWinnerEntryId: done.entryIds[0] }, "overallWinnerEntryId"],
      [{ decision: "none", valueWinnerEntryId: done.entryIds[0] }, "valueWinnerEntryId"],
      [{ decision: "tie", more: 1 }, "more"],
    ] as const) {
      const { json } = await post([422, "list"], of(done.comparisonId), body);
      expect(json.detail[0].loc, JSON.stringify(body)).toEqual(["body", field]);
    }
    const first = await post(200, of(done.comparisonId), done.winner);
    expect(first.json).toMatchObject({ nextAction: "stop", judgement: { decision: "winner" } });
    const again = { ...done.winner, valueWinnerEntryId: done.winner.overallWinnerEntryId };
    expect((await post(200, of(done.comparisonId), again)).json).toEqual(first.json);
    const other = await post([409, "ComparisonJudged"], of(done.comparisonId), none);
    expect(other.json.detail.details).toEqual({ comparisonId: done.comparisonId, decision: "winner" });
    const absent = newId("comparison");
    await post([404, "NotFound"], of(absent), none);
    await get([404, "NotFound"], `/v1/comparisons/${absent}`);
  });
});

everyStatusHasACase("comparisons");
