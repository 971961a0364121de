import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { cookies, SESSION_COOKIE } from "@/server/auth/cookies";
import { access, makeKeyText, makeTokenText } from "@/server/domain/access";
import { revokeKey } from "@/server/domain/organizations";
import { signOutEverywhere } from "@/server/domain/sessions";
import { newId } from "@/server/platform/ids";
import { env, publicUrl } from "@/server/platform/settings/env";
import { incoming, jsonOf } from "@/testing/requests";
import { cookieOf, sealedCookie, signIn } from "@/testing/sessions";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { endpoint, respond } from "./endpoint";

const secret = env.NEXTAUTH_SECRET ?? "";
const ORIGIN = new URL(publicUrl).origin;
const CSRF_COOKIE = cookies.csrfToken?.name ?? "";

let tenant: Awaited<ReturnType<typeof makeTenant>>;
let person: Awaited<ReturnType<typeof makePerson>>;
let cookie: string;
beforeAll(async () => {
  tenant = await makeTenant();
  person = await makePerson(tenant.organizationId, "member");
  cookie = await cookieOf(person.userId);
});

const shape = {
  path: "/v1/test",
  summary: "",
  auth: ["service_principal", "human_session"],
  output: z.object({ kind: z.string(), id: z.string() }),
  errors: [],
  run: async ({ principal }: { principal: { kind: string; id: string } }) => ({
    kind: principal.kind,
    id: principal.id,
  }),
} as const;
const read = endpoint({ ...shape, method: "GET" });
const write = endpoint({ ...shape, method: "POST", body: z.object({}) });

const get = (headers: Record<string, string>) => respond(read, incoming({ headers }));
const post = (headers: Record<string, string | undefined>) => respond(write, incoming({ body: {}, headers }));

async function* nothing() {}

describe("API keys", () => {
  test("a key identifies its caller, and the case of the Bearer scheme does not matter", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER "]) {
      const answer = await get({ authorization: `${scheme} ${tenant.apiKey}` });
      expect(jsonOf(answer)).toEqual({ kind: "service_principal", id: tenant.keyId });
    }
  });

  test.each([
    ["no such key", `Bearer ${makeKeyText("development")}`],
    ["a wrong checksum", `Bearer ${makeKeyText("development").slice(0, -1)}_`],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["a bare token", makeKeyText("development")],
    ["nothing after the scheme", "Bearer "],
    ["an empty header", ""],
    ["no session's token", `Bearer ${makeTokenText("caps")}`],
    ["a session token of a wrong form", "Bearer caps_abc"],
    ["a panel token of a kind not issued", "Bearer capp_abc"],
    ["a very long one", `Bearer ${"x".repeat(100_000)}`],
  ])("an Authorization header is 401: %s", async (_name, authorization) => {
    const answer = await get({ authorization });
    expect(answer.status).toBe(401);
    expect(jsonOf(answer)).toMatchObject({
      detail: {
        code: "AuthenticationFailed",
        message:
          "This API key or session is invalid, expired or revoked. Check the Authorization header, or create a new key.",
      },
    });
  });

  test("a key takes precedence over a cookie, even if the key is wrong", async () => {
    expect(jsonOf(await get({ authorization: `Bearer ${tenant.apiKey}`, cookie })).kind).toBe(
      "service_principal",
    );
    expect((await get({ authorization: "Bearer cap_x", cookie })).status).toBe(401);
  });

  test("a revoked key is refused by the next request, even while the process caches keys", async () => {
    const watch = await access.watchChanges();
    const { apiKey, keyId } = await makeTenant();
    const authorization = `Bearer ${apiKey}`;
    expect((await get({ authorization })).status).toBe(200);
    expect((await get({ authorization })).status).toBe(200);
    await revokeKey(system, keyId);
    expect((await get({ authorization })).status).toBe(401);
    await watch.stop();
  });
});

describe("browser sessions", () => {
  test("a session identifies its person", async () => {
    expect(jsonOf(await get({ cookie: `other=1; ${cookie}; more=2` }))).toEqual({
      kind: "human_session",
      id: person.userId,
    });
  });

  test("a session cookie that was split is joined again", async () => {
    const value = cookie.slice(SESSION_COOKIE.length + 1);
    const pieces = [value.slice(0, 50), value.slice(50)].map(
      (piece, place) => `${SESSION_COOKIE}.${place}=${piece}`,
    );
    expect((await get({ cookie: pieces.join("; ") })).status).toBe(200);
  });

  test("a cookie that is forged, expired, sealed with another secret, ended, or without a session or person is 401", async () => {
    const forged = `${cookie.slice(0, -4)}AAAA`;
    const good = { sub: person.userId, sid: await signIn(person.userId) };
    expect((await get({ cookie: await sealedCookie(good) })).status).toBe(200);
    const odd = [
      forged,
      await sealedCookie(good, { secret: "another secret" }),
      await sealedCookie(good, { maxAge: -60 }),
      await sealedCookie({ ...good, sid: newId("session") }),
      await sealedCookie({ ...good, sid: await signIn(person.userId, () => new Date("2026-01-01")) }),
      await sealedCookie({ sub: person.userId, sessionVersion: 1 }), // as before sessions had rows
      await sealedCookie({ ...good, sub: "usr_missing" }),
      `${SESSION_COOKIE}=garbage`,
    ];
    for (const each of odd) expect((await get({ cookie: each })).status).toBe(401);
  });

  test("an ended session is refused by the next request", async () => {
    const leaving = await makePerson(tenant.organizationId, "member");
    const own = await cookieOf(leaving.userId);
    expect((await get({ cookie: own })).status).toBe(200);
    await signOutEverywhere(leaving.ctx);
    expect((await get({ cookie: own })).status).toBe(401);
  });
});

describe("writes of a browser session", () => {
  test.each([
    ["our own origin", { origin: ORIGIN }],
    ["our own origin, as browsers say it twice", { origin: ORIGIN, "sec-fetch-site": "same-origin" }],
    ["the host it was sent to", { origin: "http://capstan.test:81", host: "capstan.test:81" }],
    ["no origin, but the browser says it is ours", { "sec-fetch-site": "same-origin" }],
  ])("a write from %s is 200", async (_name, headers) => {
    expect((await post({ cookie, ...headers })).status).toBe(200);
  });

  test.each([
    ["another site", { origin: "https://evil.example", host: "capstan.test" }],
    ["a sandboxed document", { origin: "null" }],
    ["a subdomain", { origin: ORIGIN, "sec-fetch-site": "same-site" }],
    ["another site that names our origin", { origin: ORIGIN, "sec-fetch-site": "cross-site" }],
    ["nowhere", {}],
    ["a link", { "sec-fetch-site": "none" }],
    ["nonsense", { origin: "%%%" }],
  ])("a write from %s is 403", async (_name, headers) => {
    const answer = await post({ cookie, ...headers });
    expect(answer.status).toBe(403);
    expect(jsonOf(answer).detail.code).toBe("CrossSiteRequest");
  });

  test("a content type that a form of another site could send is 415", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      undefined,
    ]) {
      expect((await post({ cookie, origin: ORIGIN, "content-type": type })).status).toBe(415);
    }
  });

  test("a write without a body or content type is allowed only from our own pages", async () => {
    const remove = endpoint({ ...shape, method: "DELETE" });
    const bare = (headers: Record<string, string | undefined>) =>
      respond(remove, incoming({ method: "DELETE", headers }));
    for (const own of [{ origin: ORIGIN }, { "sec-fetch-site": "same-origin" }])
      expect((await bare({ cookie, ...own })).status).toBe(200);
    for (const other of [
      {},
      { origin: "null" },
      { origin: "https://evil.example" },
      { origin: ORIGIN, "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
    ])
      expect((await bare({ cookie, ...other })).status).toBe(403);
    expect((await bare({ cookie, origin: ORIGIN, "x-csrf-token": "b".repeat(64) })).status).toBe(403);
    expect((await bare({ cookie, origin: ORIGIN, "content-type": "text/plain" })).status).toBe(415);
    for (const announced of [{ "content-length": "2" }, { "transfer-encoding": "chunked" }])
      expect((await bare({ cookie, origin: ORIGIN, ...announced })).status).toBe(415);
    // `next start` passes an empty stream as the body of a request without one.
    const empty = { ...incoming({ method: "DELETE", headers: { cookie, origin: ORIGIN } }), body: nothing() };
    expect((await respond(remove, empty)).status).toBe(200);
  });

  test("a CSRF token is optional, but a token that is sent must belong to this session", async () => {
    const token = "a".repeat(64);
    const csrf = `${CSRF_COOKIE}=${encodeURIComponent(`${token}|${createHash("sha256").update(`${token}${secret}`).digest("hex")}`)}`;
    const withCsrf = (sent: string, cookies: string) =>
      post({ origin: ORIGIN, cookie: cookies, "x-csrf-token": sent });
    expect((await withCsrf(token, `${cookie}; ${csrf}`)).status).toBe(200);
    expect((await withCsrf("b".repeat(64), `${cookie}; ${csrf}`)).status).toBe(403);
    expect((await withCsrf("", `${cookie}; ${csrf}`)).status).toBe(403);
    expect((await withCsrf(token, cookie)).status).toBe(403);
    expect((await withCsrf(token, `${cookie}; ${CSRF_COOKIE}=${token}|forged`)).status).toBe(403);
  });

  test("reads with a cookie and writes with a key are accepted from other sites", async () => {
    expect((await get({ cookie, origin: "https://evil.example" })).status).toBe(200);
    expect(
      (await post({ authorization: `Bearer ${tenant.apiKey}`, origin: "https://evil.example" })).status,
    ).toBe(200);
  });
});
