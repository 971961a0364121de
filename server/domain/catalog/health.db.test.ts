import { afterAll, beforeAll, expect, test } from "vitest";
import * as credentials from "@/server/domain/connections";
import * as jobs from "@/server/domain/jobs";
import { quote } from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import type { Script, Vendor } from "@/server/providers/testing/vendor";
import { system } from "@/testing/tenants";
import { MODELS, vendorAsOpenAi } from "@/testing/vault";
import { makeProject, type TestProject } from "@/testing/world";
import { readHealth } from ".";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }], maxOutputTokens: 100 };
const ANSWER = {
  json: {
    id: "resp_1",
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text", text: "Deep." }] }],
    usage: { input_tokens: 20, output_tokens: 5 },
  },
};

let vendor: Vendor;
let closeVendor: () => Promise<void>;
beforeAll(async () => {
  ({ vendor, close: closeVendor } = await vendorAsOpenAi());
});
afterAll(() => closeVendor());

/** A project with its own account at a vendor that has several models for `TEXT`. */
async function makeConnected() {
  const project = await makeProject();
  vendor.answer(MODELS);
  const place = { projectId: project.projectId, environment: "development" };
  const wanted = { provider: "openai", secret: "sk-of-this-test-alone", label: "default" };
  const { credentialId } = await credentials.createCredential(system, project.organizationId, wanted, {
    places: [place],
  });
  return { ...project, credentialId };
}

const chosenBy = async ({ ctx }: TestProject, execution: Record<string, Json> = {}) =>
  (await quote(ctx, TEXT, { input, execution })).resolved?.model;

async function runs({ ctx }: TestProject, script: Script, execution: Record<string, Json> = {}) {
  vendor.answer(script);
  return jobs.invoke(ctx, TEXT, { input, execution }).catch((fault) => fault);
}

const fails = async (
  project: TestProject,
  script: Script,
  times: number,
  execution: Record<string, Json> = {},
) => {
  for (let time = 0; time < times; time++)
    expect((await runs(project, script, execution)).code).toMatch(
      /PROVIDER_ERROR|TRANSPORT_AMBIGUOUS|ProviderUnavailable/,
    );
};
const rowsOf = async (account: string) =>
  (await pool.query("SELECT route, failures, reason FROM route_health WHERE account = $1", [account])).rows;

test("a route that keeps failing goes behind its equals, longer each time, and comes back automatically", async () => {
  const project = await makeConnected();
  const first = await chosenBy(project);
  await fails(project, { status: 500 }, 2);
  expect(await chosenBy(project)).toBe(first);
  await fails(project, { status: 500 }, 1);
  const second = await chosenBy(project);
  expect(second).not.toBe(first);

  const { receiptId } = await runs(project, ANSWER);
  const { rows } = await pool.query("SELECT body FROM receipt WHERE id = $1", [receiptId]);
  const body = typeof rows[0].body === "string" ? JSON.parse(rows[0].body) : rows[0].body;
  expect(body.routing).toMatchObject({
    routingPolicy: "automatic",
    selectionReason: "first_healthy",
    selectedPlanId: `openai/${second}`,
  });
  // The route that was passed over is still listed.
  expect(body.routing.eligiblePlanIds).toContain(`openai/${first}`);

  project.clock.advance(31_000);
  expect(await chosenBy(project)).toBe(first);
  await fails(project, { status: 500 }, 1);
  project.clock.advance(31_000);
  expect(await chosenBy(project)).toBe(second);
  project.clock.advance(30_000);
  expect(await chosenBy(project)).toBe(first);

  // One answer deletes all recorded failures of the route.
  expect((await runs(project, ANSWER)).resolvedModel).toBe(first);
  expect(await rowsOf(project.credentialId)).toEqual([]);
  await fails(project, { status: 500 }, 2);
  expect(await chosenBy(project)).toBe(first);
});

test.each([
  ["lost", "close", "openai/"],
  ["capacity", { status: 429, headers: { "retry-after": "3600" } }, "openai/"],
] as const)(
  "a call that ends as %s counts against its route, for its own account only",
  async (reason, script, route) => {
    const [project, other] = [await makeConnected(), await makeConnected()];
    const first = await chosenBy(project);
    await fails(project, script, 3);
    expect(await rowsOf(project.credentialId)).toEqual([{ route: `${route}${first}`, failures: 3, reason }]);
    expect(await chosenBy(project)).not.toBe(first);
    expect(await chosenBy(other)).toBe(first);
  },
);

test("a server that cannot be reached counts against the provider, not against the model", {
  tags: "long",
}, async () => {
  const project = await makeConnected();
  await pool.query("UPDATE credential SET base_url = 'http://127.0.0.1:9' WHERE id = $1", [
    project.credentialId,
  ]);
  await fails(project, ANSWER, 1);
  expect(await rowsOf(project.credentialId)).toEqual([
    { route: "openai", failures: 1, reason: "unreachable" },
  ]);
});

test("a refusal of the request or the key does not count against the route", async () => {
  const project = await makeConnected();
  for (const status of [400, 401, 404])
    expect((await runs(project, { status })).code).toBe("ProviderRejected");
  expect(await rowsOf(project.credentialId)).toEqual([]);
});

test("a route requested by name is taken even if it keeps failing", async () => {
  const project = await makeConnected();
  const first = (await chosenBy(project)) ?? "";
  await fails(project, { status: 500 }, 3);
  const named = { executionConstraints: { preferredModel: first } };
  expect(await chosenBy(project, named)).toBe(first);
  expect((await runs(project, ANSWER, named)).resolvedModel).toBe(first);
});

test("failures that another process recorded count after the next read, and old ones are counted from one again", async () => {
  const project = await makeConnected();
  const first = await chosenBy(project);
  const now = project.clock.now();
  await pool.query(
    `INSERT INTO route_health (account, route, failures, reason, last_failed_at, behind_until)
     VALUES ($1, $2, 5, 'failed', $3, $3::timestamptz + interval '2 minutes')`,
    [project.credentialId, `openai/${first}`, now],
  );
  await readHealth();
  expect(await chosenBy(project)).not.toBe(first);
  project.clock.advance(13 * 60_000);
  await fails(project, { status: 503 }, 1);
  expect((await rowsOf(project.credentialId))[0]?.failures).toBe(1);
  expect(await chosenBy(project)).toBe(first);
});
