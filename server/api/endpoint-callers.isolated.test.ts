import { beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { fail } from "@/server/platform/errors/errors";
import { incoming, jsonOf, ownAddress } from "@/testing/requests";
import { makeTenant } from "@/testing/tenants";
import { endpoint, respond } from "./endpoint";
import { base, throwing } from "./endpoint.fixture";

// Lowers the limit, so that a test uses it up soon. Limits are read once, when the modules load.
vi.hoisted(() => {
  process.env.RATE_LIMIT_ANONYMOUS_PER_MINUTE = "120";
});

let tenant: Awaited<ReturnType<typeof makeTenant>>;
beforeAll(async () => {
  tenant = await makeTenant({ scopes: ["jobs:read"] });
});

describe("authorization", () => {
  const guarded = endpoint({
    ...base,
    auth: ["service_principal"],
    scope: "jobs:read",
    run: async (ctx) => ({ seen: ctx.principal.id }),
  });

  test("a request without a credential is 401, and so is a wrong credential even if none is needed", async () => {
    const none = await respond(guarded, incoming());
    expect(none.status).toBe(401);
    expect(none.headers["www-authenticate"]).toContain("Bearer");
    expect(jsonOf(none).detail.code).toBe("AuthenticationFailed");
    expect(
      (
        await respond(
          throwing(() => fail("NotFound", "No.")),
          incoming({ key: "cap_x" }),
        )
      ).status,
    ).toBe(401);
  });

  test("a caller of a kind that is not allowed, or a key without the scope, is 403", async () => {
    const forPeople = endpoint({ ...base, auth: ["human_session"], run: async () => ({ seen: 1 }) });
    expect((await respond(forPeople, incoming({ key: tenant.apiKey }))).status).toBe(403);
    const writing = endpoint({
      ...base,
      auth: ["service_principal"],
      scope: "jobs:write",
      run: async () => ({ seen: 1 }),
    });
    const answer = await respond(writing, incoming({ key: tenant.apiKey }));
    expect(answer.status).toBe(403);
    expect(jsonOf(answer).detail).toMatchObject({
      code: "AuthorizationFailed",
      details: { scope: "jobs:write" },
    });
  });

  test("a key with the scope is 200", async () => {
    expect(jsonOf(await respond(guarded, incoming({ key: tenant.apiKey })))).toEqual({ seen: tenant.keyId });
  });

  test("a body is not read before the caller is identified", async () => {
    const answer = await respond(
      endpoint({ ...base, auth: ["service_principal"], body: z.object({}), run: async () => ({ seen: 1 }) }),
      incoming({ body: "no json", key: undefined }),
    );
    expect(answer.status).toBe(401);
  });
});

describe("limits", () => {
  test("an address that sends too many requests, guesses of keys included, gets 429 with Retry-After", async () => {
    const address = ownAddress();
    const open = endpoint({ ...base, run: async () => ({ seen: 1 }) });
    const statuses = new Set<number>();
    let last = await respond(open, incoming({ address }));
    for (let n = 0; n < 500 && last.status !== 429; n++) {
      last = await respond(open, incoming({ address, key: n % 2 ? "cap_wrong" : undefined }));
      statuses.add(last.status);
    }
    expect(statuses).toEqual(new Set([200, 401, 429]));
    expect(jsonOf(last).detail).toMatchObject({
      code: "RateLimited",
      details: { retryAfterSeconds: expect.any(Number) },
    });
    expect(Number(last.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(last.headers["ratelimit-remaining"]).toBe("0");
    expect((await respond(open, incoming({ address: ownAddress() }))).status).toBe(200);
  });

  test("an address that used up its limit does not lock out a key that has worked before", async () => {
    const address = ownAddress();
    const guarded = endpoint({ ...base, auth: ["service_principal"], run: async () => ({ seen: 1 }) });
    expect((await respond(guarded, incoming({ key: tenant.apiKey, address }))).status).toBe(200);
    for (let n = 0; n < 500; n++) await respond(guarded, incoming({ address }));
    expect((await respond(guarded, incoming({ address }))).status).toBe(429);
    expect((await respond(guarded, incoming({ key: tenant.apiKey, address }))).status).toBe(200);
  });
});
