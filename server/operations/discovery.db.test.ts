import { beforeAll, describe, expect, test } from "vitest";
import { CapabilityBrief } from "@/server/contract/capabilities";
import { FRAME_EVENTS } from "@/server/contract/enums";
import { allCapabilities, MOST_BRIEF_BYTES, publish } from "@/server/domain/catalog";
import { pool } from "@/server/platform/db";
import { call, finish, makeTenant, type Tenant } from "@/testing/api";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

describe("view=brief", () => {
  test.each(allCapabilities)("the brief of $key says in at most 4 KB how to run it", async (capability) => {
    const { status, bytes, json } = await call("GET", `/v1/capabilities/${capability.key}?view=brief`);
    expect(status).toBe(200);
    expect(bytes.byteLength).toBeLessThanOrEqual(MOST_BRIEF_BYTES);
    const brief = CapabilityBrief.parse(json);
    expect(brief.run.map(({ mode }) => mode)).toEqual([...capability.modes]);
    const { properties = {} } = publish(capability.input, "input");
    expect(Object.keys(brief.inputSchema.properties as object)).toEqual(Object.keys(properties as object));
    for (const { body } of brief.run) expect(capability.input.safeParse(body.input).success).toBe(true);
  });

  test.each(allCapabilities)(
    "the brief of $key lists the events of its stream, and describes deferred processing if it is available",
    async (capability) => {
      const { json } = await call("GET", `/v1/capabilities/${capability.key}?view=brief`);
      const { features } = (await call("GET", `/v1/capabilities/${capability.key}`)).json;
      for (const { mode, events, processing } of CapabilityBrief.parse(json).run) {
        expect(events).toEqual(mode === "invoke_stream" ? [...FRAME_EVENTS] : undefined);
        const isDeferred = mode === "job_async" && features.deferredProcessing?.available === true;
        expect(processing, mode).toEqual(isDeferred ? expect.stringMatching(/^Deferred .* 50 %/) : undefined);
      }
    },
  );

  test("the requests of a brief run unchanged", async () => {
    const { json } = await call("GET", "/v1/capabilities/text.general.fast.v1?view=brief");
    for (const { mode, request, body } of json.run) {
      const [, path] = request.split(" ");
      const answer = await tenant.post(path, { ...body, idempotencyKey: `brief-${mode}` });
      expect(answer.status, mode).toBe(200);
      if (mode === "job_async") await finish(answer.json.jobId);
    }
  });

  test("a whole descriptor has its price examples once", async () => {
    const { json } = await tenant.get("/v1/capabilities/image.generate.v1");
    expect(json.pricing.examples.length).toBeGreaterThan(0);
    expect(json.billingModes.byok.pricing.examples).toEqual([]);
    expect(json.billingModes.managed.pricing.examples).toEqual([]);
  });
});

test.each([
  ["/v1/capabilities?view=nonsense", "view"],
  ["/v1/capabilities/text.general.fast.v1?view=nonsense&q=x", "view, q"],
  ["/v1/capabilities?view=summary&statuss=a&statuss=b", "statuss"],
  ["/v1/capabilities?view=summary", undefined],
  ["/v1/capabilities?q=image", undefined],
  ["/v1/capabilities?%0d%0ax=1", "%0D%0Ax"],
])("the answer to %s has a header that names the ignored parameters: %s", async (target, ignored) => {
  const { status, headers } = await call("GET", target);
  expect([status, headers["x-capstan-ignored-query"]]).toEqual([200, ignored]);
});

describe("GET /v1/jobs", () => {
  const TEXT = "/v1/capabilities/text.general.fast.v1/jobs";
  const say = (more: object) => ({ input: { messages: [{ role: "user", content: "Hello" }] }, ...more });
  let [first, second, failed] = ["", "", ""];

  beforeAll(async () => {
    const submit = async (target: string, body: object) => {
      const { json } = await tenant.post(target, body);
      await finish(json.jobId);
      return json.jobId as string;
    };
    first = await submit(TEXT, say({ preferredModel: "sandbox-1" }));
    second = await submit(TEXT, say({ preferredModel: "sandbox-2", idempotencyKey: "order 4711" }));
    failed = await submit(TEXT, say({ preferredModel: "sandbox-refuse" }));
    await pool.query("UPDATE job SET actual_micros = 50000 WHERE id = $1", [second]);
  });

  const idsOf = async (query: string) => {
    const { status, json, headers } = await tenant.get(`/v1/jobs?limit=100&${query}`);
    expect([status, headers["x-capstan-ignored-query"]], query).toEqual([200, undefined]);
    return json.items.map(({ jobId }: { jobId: string }) => jobId);
  };

  test("status narrows the list", async () => {
    expect(await idsOf("status=failed")).toEqual([failed]);
    expect(await idsOf("status=running")).toEqual([]);
  });
  test("outcome narrows the list", async () => {
    expect(await idsOf("outcome=failed")).toEqual([failed]);
    expect(await idsOf("outcome=failed&status=succeeded")).toEqual([]);
  });
  test("capabilityKey narrows the list", async () => {
    expect(await idsOf("capabilityKey=text.general.fast.v1&status=failed")).toEqual([failed]);
    expect(await idsOf("capabilityKey=compute.evaluate.v1")).toEqual([]);
  });
  test("createdAfter and createdBefore narrow the list", async () => {
    const createdAt = async (id: string) => (await tenant.get(`/v1/jobs/${id}`)).json.createdAt;
    const [one, two] = [await createdAt(first), await createdAt(second)];
    expect(await idsOf(`createdBefore=${two}`)).toContain(first);
    expect(await idsOf(`createdBefore=${two}`)).not.toContain(second);
    expect(await idsOf(`createdAfter=${two}`)).not.toContain(first);
    expect(await idsOf(`createdAfter=${one}&createdBefore=${two}`)).toEqual([first]);
  });
  test("provider and model narrow the list", async () => {
    expect(await idsOf("provider=openai")).toEqual([]);
    expect(await idsOf("provider=sandbox")).toContain(second);
    expect(await idsOf("model=sandbox/sandbox-2")).toEqual(await idsOf("model=sandbox-2"));
    expect(await idsOf("model=sandbox-2")).toContain(second);
    expect(await idsOf("model=sandbox-2")).not.toContain(first);
  });
  test("principalId narrows the list", async () => {
    const { json } = await tenant.get("/v1/diagnostics/session");
    expect(await idsOf(`principalId=${json.principalId}`)).toContain(first);
    expect(await idsOf("principalId=key_another")).toEqual([]);
  });
  test("minCostUsd narrows the list", async () => {
    expect(await idsOf("minCostUsd=0.05")).toEqual([second]);
    expect(await idsOf("minCostUsd=0.051")).toEqual([]);
  });
  test("idempotencyKey narrows the list", async () => {
    expect(await idsOf("idempotencyKey=order+4711")).toEqual([second]);
    // The filter trims its value, as a submission does.
    expect(await idsOf("idempotencyKey=%20order+4711%20")).toEqual([second]);
    for (const other of ["order", "order+4711-b", "Order+4711", "order+%25", "never-sent"])
      expect(await idsOf(`idempotencyKey=${other}`), other).toEqual([]);
    expect(await idsOf("idempotencyKey=order+4711&status=failed")).toEqual([]);
  });
  test("idempotencyKey finds a job and a synchronous call under one key, because they are two kinds of operation", async () => {
    const body = { input: { expression: "6 * 7" }, idempotencyKey: "both" };
    const { json } = await tenant.post("/v1/capabilities/compute.evaluate.v1/invoke", body);
    const job = await tenant.post(TEXT, say({ idempotencyKey: "both" }));
    expect(await idsOf("idempotencyKey=both")).toEqual([job.json.jobId, json.executionId]);
  });
  test("idempotencyKey finds the caller's own jobs in each of its projects, and no one else's under the same key", async () => {
    const elsewhere = await makeTenant();
    const idempotencyKey = "order 4711";
    const others = await elsewhere.post(TEXT, say({ idempotencyKey }));
    const { unboundKey: key, projectId, otherProjectId } = tenant;
    const context = { projectId: otherProjectId };
    const unbound = await tenant.post(TEXT, say({ idempotencyKey, context }), { key });
    const listed = async (target: string, options = {}) => {
      const { status, json } = await tenant.get(`${target}?idempotencyKey=order+4711`, options);
      expect(status, target).toBe(200);
      return json.items.map(({ jobId }: { jobId: string }) => jobId);
    };
    expect(await listed("/v1/jobs")).toEqual([second]);
    expect(await listed("/v1/jobs", { key })).toEqual([unbound.json.jobId]);
    expect(await listed("/v1/jobs", { key: elsewhere.key })).toEqual([others.json.jobId]);
    expect(await listed(`/v1/projects/${projectId}/jobs`, { key })).toEqual([second]);
    expect(await listed(`/v1/projects/${otherProjectId}/jobs`, { key })).toEqual([unbound.json.jobId]);
  });
  test("an invalid filter value is refused with the allowed values", async () => {
    for (const [query, words] of [
      ["status=done", /Use one of: "queued", "running"/],
      ["minCostUsd=cheap", /Must be a number/],
      ["createdAfter=yesterday", /such as 2026-02-28T10:00:00Z/],
      ["idempotencyKey=", /cannot be empty/],
      ["idempotencyKey=%20", /cannot be empty/],
      [`idempotencyKey=${"k".repeat(256)}`, /255/],
    ] as const) {
      const { status, json } = await tenant.get(`/v1/jobs?${query}`);
      expect([status, json.message]).toEqual([422, expect.stringMatching(words)]);
    }
  });

  test("filters do not reveal the model of a blind job", async () => {
    await pool.query("UPDATE job SET is_blind = true WHERE id = $1", [second]);
    expect(await idsOf("status=succeeded")).toContain(second);
    for (const query of ["provider=sandbox", "model=sandbox-2", "minCostUsd=0", "idempotencyKey=order+4711"])
      expect(await idsOf(query), query).not.toContain(second);
    await pool.query("UPDATE job SET is_blind = false WHERE id = $1", [second]);
  });
});
