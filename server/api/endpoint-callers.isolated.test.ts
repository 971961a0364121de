import { beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { fail } from "@/server/platform/errors/errors";
import { incoming, jsonOf, ownAddress } from "@/testing/requests";
import { makeTenant } from "@/testing/tenants";
import { endpoint, respond } from "./endpoint";
import { base, throwing } from "./endpoint.fixture";

// A limit that is soon used up. Limits are read once, with the modules.
vi.hoisted(() => {
  process.env.RATE_LIMIT_ANONYMOUS_PER_MINUTE = "120";
});

let tenant: Awaited<ReturnType<typeof makeTenant>>;
beforeAll(async () => {
  tenant = await makeTenant({ scopes: ["jobs:read"] });
});

describe("who may ask", () => {
  const guarded = endpoint({
    ...base,
    auth: ["service_principal"],
    scope: "jobs:read",
    run: async (ctx) => ({ seen: ctx.principal.id }),
  });

  test("401 without a credential, and with one that is wrong even where none is needed", async () => {
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

  test("403 for a kind that is not allowed and for a key without the scope", async () => {
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

  test("200 with a key that may", async () => {
    expect(jsonOf(await respond(guarded, incoming({ key: tenant.apiKey })))).toEqual({ seen: tenant.keyId });
  });

  test("a body is not read before it is known who asks", async () => {
    const answer = await respond(
      endpoint({ ...base, auth: ["service_principal"], body: z.object({}), run: async () => ({ seen: 1 }) }),
      incoming({ body: "no json", key: undefined }),
    );
    expect(answer.status).toBe(401);
  });
});

describe("limits", () => {
  test("429 with Retry-After when an address asks too much, guesses at keys included", async () => {
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

  test("a spent address does not keep out a key that has been good", async () => {
    const address = ownAddress();
    const guarded = endpoint({ ...base, auth: ["service_principal"], run: async () => ({ seen: 1 }) });
    expect((await respond(guarded, incoming({ key: tenant.apiKey, address }))).status).toBe(200);
    for (let n = 0; n < 500; n++) await respond(guarded, incoming({ address }));
    expect((await respond(guarded, incoming({ address }))).status).toBe(429);
    expect((await respond(guarded, incoming({ key: tenant.apiKey, address }))).status).toBe(200);
  });
});
