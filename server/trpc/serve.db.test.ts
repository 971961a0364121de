import { expect, onTestFinished, test, vi } from "vitest";
import { addressLimit } from "@/server/api/rate-limit";
import type { Ctx } from "@/server/domain/ctx";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { spend } from "@/testing/limits";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { servePanel } from "./serve";

const anonymous: Ctx = { ...system, principal: { kind: "anonymous", id: "anonymous", address: "" } };
const token = "x".repeat(43);

function ask(
  ctx: Ctx,
  body: string,
  { path = "organizations.lookAtInvitation", address = "203.0.113.9", ...more }: Record<string, string> = {},
) {
  const headers = {
    "content-type": "application/json",
    "sec-fetch-site": "same-origin",
    "x-forwarded-for": address,
    ...more,
  };
  const request = new Request(`http://panel/api/trpc/${path}`, { method: "POST", headers, body });
  return servePanel(request, async () => ctx);
}

test("guesses of invitations without a session are counted by address, and the error names the time to retry", async () => {
  const guess = () => ask(anonymous, JSON.stringify({ token }));
  const first = await guess();
  expect(first.status).toBe(404);
  expect(Number(first.headers.get("ratelimit-limit"))).toBe(env.RATE_LIMIT_ANONYMOUS_PER_MINUTE * 10);
  spend(addressLimit, "203.0.113.9");
  const refused = await guess();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: { data: { code: "TOO_MANY_REQUESTS", fault: { code: "RateLimited" } } },
  });
  expect((await ask(anonymous, JSON.stringify({ token }), { address: "203.0.113.10" })).status).toBe(404);
  const { organizationId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "viewer");
  expect((await ask(ctx, JSON.stringify({ token }))).status).toBe(404);
});

test("a body that is too large is refused while it is read: over 1 MiB signed out, over 32 MiB signed in", async () => {
  const { organizationId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "viewer");
  const padded = (bytes: number) => JSON.stringify({ token }).padEnd(bytes, " ");
  const at = { address: "203.0.113.11" };
  expect((await ask(anonymous, padded(1024 * 1024), at)).status).toBe(404);
  const refused = await ask(anonymous, padded(1024 * 1024 + 1), at);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({
    error: { data: { fault: { code: "PayloadTooLarge", details: { maxBytes: 1024 * 1024 } } } },
  });
  expect((await ask(ctx, padded(1024 * 1024 + 1), at)).status).toBe(404);
  expect((await ask(ctx, padded(32 * 1024 * 1024 + 1), at)).status).toBe(413);
});

test("a write from an address that is not ours is refused in the pages' format, with the reason", async () => {
  const refused = await ask(anonymous, JSON.stringify({ token }), {
    origin: "https://panel.test",
    host: "backend",
  });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    error: {
      message: expect.stringContaining("This page was opened at https://panel.test"),
      data: { code: "FORBIDDEN", fault: { code: "CrossSiteRequest" } },
    },
  });
});

test("a body that is not JSON is refused, because a form of another site cannot send JSON", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const refused = await ask(anonymous, JSON.stringify({ token }), { "content-type": type });
    expect(refused.status, type).toBe(415);
  }
  const usual = { "content-type": "application/json; charset=utf-8" };
  expect((await ask(anonymous, JSON.stringify({ token }), usual)).status).toBe(404);
});

test("an outage while the session is read is a 503 with the time to retry, and is logged", async () => {
  const logged = vi.spyOn(log, "error").mockReturnValue();
  onTestFinished(() => logged.mockRestore());
  const outage = Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" });
  const request = new Request("http://panel/api/trpc/projects.list");
  const answer = await servePanel(request, () => Promise.reject(outage));
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("5");
  expect(await answer.json()).toMatchObject({
    error: { data: { code: "SERVICE_UNAVAILABLE", fault: { code: "ServiceUnavailable" } } },
  });
  expect(logged).toHaveBeenCalledWith({ err: outage }, "panel request failed");
});
