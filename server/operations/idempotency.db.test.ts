import { beforeAll, expect, test } from "vitest";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { COMPARED, COMPARISONS } from "@/testing/comparisons";
import { NEED } from "@/testing/needs";

/* Every endpoint that takes a key has the same rule for what counts as one. */

const TEXT = "/v1/capabilities/text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
const DOORS: [path: string, body: object, id: string][] = [
  [`${TEXT}/jobs`, { input }, "jobId"],
  [`${TEXT}/invoke`, { input }, "executionId"],
  [COMPARISONS, COMPARED, "comparisonId"],
  ["/v1/inference/pinned", { pin, input: "Hello" }, "executionId"],
  ["/v1/inference/pinned/bulk", { pin, items: [{ id: "1", input: "Hello" }] }, "bulkId"],
  ["/v1/capability-requests", NEED, "id"],
];

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

const idOf = async (path: string, body: object, id: string, headers: Record<string, string> = {}) => {
  const { status, json } = await tenant.post(path, body, { headers });
  expect(status, JSON.stringify(json)).toBe(200);
  return json[id] as string;
};

test.each(DOORS)("%s treats a blank key as no key, in the body and in the header", async (path, body, id) => {
  const ids = [
    await idOf(path, { ...body, idempotencyKey: "" }, id),
    await idOf(path, { ...body, idempotencyKey: " " }, id),
    await idOf(path, { ...body, idempotencyKey: null }, id),
    await idOf(path, body, id, { "idempotency-key": "" }),
    await idOf(path, body, id, { "idempotency-key": " " }),
  ];
  expect(ids.every(Boolean)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  const named = await idOf(path, { ...body, idempotencyKey: "" }, id, { "idempotency-key": "one" });
  expect(await idOf(path, { ...body, idempotencyKey: " one " }, id)).toBe(named);
});

test.each(["jobs", "invoke"])(
  "%s reports whether the key is the client's or generated, and whether it was a replay",
  async (door) => {
    const ask = async (body: object, headers: Record<string, string> = {}) => {
      const answer = await tenant.post(`${TEXT}/${door}`, { input, ...body }, { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers["x-idempotent-replay"]).toBe(
        answer.json.idempotency.replayed ? "true" : undefined,
      );
      return answer.json.idempotency;
    };
    const own = { idempotencyKey: `said-${door}` };
    expect(await ask(own)).toEqual({ source: "client", replayed: false });
    expect(await ask(own)).toEqual({ source: "client", replayed: true });
    expect(await ask({}, { "idempotency-key": own.idempotencyKey })).toEqual({
      source: "client",
      replayed: true,
    });
    expect(await ask({ tags: [door] })).toEqual({ source: "minted", replayed: false });
    expect(await ask({ idempotencyKey: " ", tags: [door] })).toMatchObject({ source: "minted" });
  },
);

test("a retry under a blank key is the one retry of that job", async () => {
  const refusing = { input, preferredModel: "sandbox-refuse" };
  const jobId = await idOf(`${TEXT}/jobs`, refusing, "jobId");
  await finish(jobId);
  const again = (headers?: Record<string, string>) => idOf(`/v1/jobs/${jobId}/retry`, {}, "jobId", headers);
  const first = await again();
  expect(await again({ "idempotency-key": "" })).toBe(first);
  expect(await again({ "idempotency-key": " " })).toBe(first);
});
