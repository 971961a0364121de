import { beforeAll, expect, test } from "vitest";
import * as budgets from "@/server/domain/budgets";
import { getCapability } from "@/server/domain/catalog";
import { systemCtx } from "@/server/domain/ctx";
import { planExecution } from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import { usdText } from "@/server/platform/money";
import { makeTenant, type Tenant } from "@/testing/api";

/* A refusal because of the price names the cheapest route that fits, as a patch of the body. */

const TARGET = "/v1/capabilities/text.embed.v1/invoke";
const IMAGES = "image.generate.v1";
const input = { texts: ["How deep is the sea?"] };

let tenant: Tenant;
const costs: Record<string, number> = {};

beforeAll(async () => {
  tenant = await makeTenant();
  for (const model of ["sandbox-1", "sandbox-2"]) {
    const target = TARGET.replace("invoke", "quote");
    const execution = { executionConstraints: { preferredModel: model } };
    const { json } = await tenant.post(target, { input, execution });
    costs[model] = json.maximumAuthorizedCharge.amountMicros / 1_000_000;
  }
});

/** The body after a JSON merge patch (RFC 7396). */
function merged(body: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const whole = { ...body };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete whole[name];
    else if (typeof value === "object")
      whole[name] = merged((whole[name] ?? {}) as Record<string, unknown>, value as Record<string, unknown>);
    else whole[name] = value;
  }
  return whole;
}

test.each([
  { preferredModel: "sandbox-2" },
  { pin: { target: "sandbox/sandbox-2" } },
  { providerPin: "sandbox/sandbox-2" },
  { execution: { executionConstraints: { preferredModel: "sandbox-2" } } },
])("the patch for %j leads to a run on the cheaper model, and the refusal ran nothing", async (named) => {
  expect(costs["sandbox-1"]).toBeLessThan(costs["sandbox-2"]!);
  const body = { input, maxCostUsd: costs["sandbox-1"], ...named };
  const { status, json } = await tenant.post(TARGET, body);
  expect([status, json.code]).toEqual([402, "BudgetExceeded"]);
  const { cheapestRoute } = json.detail.details;
  expect(cheapestRoute).toMatchObject({
    model: "sandbox/sandbox-1",
    fits: true,
    estimatedCost: costs["sandbox-1"],
  });
  expect(cheapestRoute.estimatedCostMicros).toBe(Math.round(costs["sandbox-1"]! * 1e6));
  const ran = await tenant.post(TARGET, merged(body, cheapestRoute.patch));
  expect([ran.status, ran.json.resolvedModel]).toEqual([200, "sandbox-1"]);
});

/** A tenant whose test money, or whose project's budget, covers only the cheaper model. */
async function makeShort(what: "budget" | "funds"): Promise<Tenant> {
  const short = await makeTenant();
  const micros = Math.round(costs["sandbox-1"]! * 1e6);
  if (what === "funds")
    await pool.query(
      "UPDATE wallet SET balance_micros = $2, allowance_micros = 0 WHERE organization_id = $1 AND is_test",
      [short.organizationId, micros],
    );
  else
    await budgets.set(systemCtx("test"), {
      owner: { projectId: short.projectId },
      period: "day",
      enforcement: "prevent",
      ceilingMicros: micros,
    });
  return short;
}

test.each([
  ["budget", "invoke", "BudgetExceeded"],
  ["budget", "jobs", "BudgetExceeded"],
  ["funds", "invoke", "funding_required"],
  ["funds", "jobs", "funding_required"],
] as const)("a refusal because of the %s names the model that fits: %s", async (what, how, code) => {
  const short = await makeShort(what);
  const target = TARGET.replace("invoke", how);
  const body = { input, preferredModel: "sandbox-2" };
  const { status, json } = await short.post(target, body);
  expect([status, json.code]).toEqual([402, code]);
  expect(json.detail.details).toMatchObject({
    available: costs["sandbox-1"],
    cheapestRoute: { model: "sandbox/sandbox-1", estimatedCost: costs["sandbox-1"] },
  });
  expect(json.message).toContain("sandbox/sandbox-1 fits");
  expect((await short.get("/v1/jobs")).json.items).toEqual([]);
  const ran = await short.post(target, merged(body, json.detail.details.cheapestRoute.patch));
  expect(ran.status).toBe(200);
});

test.each(["budget", "funds"] as const)(
  "a refusal because the %s is used up names no route",
  async (what) => {
    const short = await makeShort(what);
    await short.post(TARGET, { input, preferredModel: "sandbox-1" });
    const { status, json } = await short.post(TARGET, { input, preferredModel: "sandbox-2" });
    expect(status).toBe(402);
    expect(json.detail.details).not.toHaveProperty("cheapestRoute");
  },
);

test("the files of an input are read once, however many routes a refusal prices", async () => {
  const capability = getCapability(IMAGES);
  const { execute } = capability;
  if ("local" in execute) throw new Error("images are drawn by providers");
  let read = 0;
  const counting = {
    ...capability,
    execute: {
      ...execute,
      materialize: async () => {
        read++;
        return {};
      },
    },
  };
  const project = { id: tenant.projectId, environment: "development", outputsOf: () => true };
  const wanted = {
    input: { prompt: "A lighthouse" },
    execution: { executionConstraints: { autoSelect: false, maxCostUsd: 0.000_001 } },
  };
  await expect(planExecution(counting as never, project as never, wanted as never)).rejects.toMatchObject({
    code: "BudgetExceeded",
  });
  expect(read).toBe(1);
});

test("a request limit below every route is refused with the cheapest route and its price, and is shown as sent", async () => {
  const body = { input, maxCostUsd: 0.000_000_001, preferredModel: "sandbox-2" };
  const { status, json } = await tenant.post(TARGET, body);
  expect(status).toBe(402);
  const { cheapestRoute, ...details } = json.detail.details;
  expect(details).toMatchObject({ ceiling: 0.000_000_001, available: 0.000_000_001 });
  expect(json.message).toContain("this request's limit of 0.000000001 USD");
  expect(json.message).toContain(
    `No route fits. The cheapest is sandbox/sandbox-1, which may cost ${usdText(costs["sandbox-1"]!)} USD`,
  );
  expect(cheapestRoute).toMatchObject({
    model: "sandbox/sandbox-1",
    fits: false,
    estimatedCost: costs["sandbox-1"],
  });
  const raised = { ...merged(body, cheapestRoute.patch), maxCostUsd: cheapestRoute.estimatedCost };
  expect((await tenant.post(TARGET, raised)).status).toBe(200);
});

test("a limit of zero names the cheapest route, too", async () => {
  const execution = { maximumCharge: { amountMicros: 0 } };
  const { status, json } = await tenant.post(TARGET, { input, execution });
  expect([status, json.detail.details.cheapestRoute.fits]).toEqual([402, false]);
});

test("providerPin and preferredModel accept the listed alternates, and providerPin refuses another model beside it", async () => {
  const gone = await tenant.post(TARGET, { input, preferredModel: "gone" });
  const { alternates } = gone.json.detail.details;
  expect(alternates).toContain("sandbox/sandbox-2");
  for (const target of alternates) {
    for (const named of [{ providerPin: target }, { preferredModel: target }]) {
      const { status, json } = await tenant.post(TARGET, { input, ...named });
      expect([status, `sandbox/${json.resolvedModel}`]).toEqual([200, target]);
    }
  }
  const both = { providerPin: "sandbox/sandbox-2", preferredModel: "sandbox/sandbox-2" };
  expect((await tenant.post(TARGET, { input, ...both })).json.resolvedModel).toBe("sandbox-2");
  const two = await tenant.post(TARGET, {
    input,
    providerPin: "sandbox/sandbox-2",
    preferredModel: "sandbox-1",
  });
  expect([two.status, two.json.code]).toEqual([422, "CONFLICTING_EXECUTION_CONSTRAINT"]);
});
