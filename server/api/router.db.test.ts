import { describe, expect, test } from "vitest";
import { z } from "zod";
import { VERSION } from "@/server/platform/settings/version";
import { incoming, jsonOf } from "@/testing/requests";
import { endpoint } from "./endpoint";
import { base, echo } from "./endpoint.fixture";
import { serve } from "./next";
import { router } from "./router";

describe("paths and methods", () => {
  const list = endpoint({ ...base, method: "GET", path: "/v1/things", run: async () => ({ seen: "list" }) });
  const one = endpoint({
    ...base,
    method: "GET",
    path: "/v1/things/{thing_id}",
    params: z.object({ thing_id: z.string() }),
    run: async (_ctx, { params }) => ({ seen: params.thing_id }),
  });
  const special = endpoint({
    ...base,
    method: "GET",
    path: "/v1/things/special",
    run: async () => ({ seen: "the special one" }),
  });
  const route = router([list, one, special, echo]);
  const ask = (method: string, path: string, body?: unknown) => route(incoming({ method, path, body }));

  test("a literal wins over a parameter, and parameters are decoded", async () => {
    expect(jsonOf(await ask("GET", "/v1/things"))).toEqual({ seen: "list" });
    expect(jsonOf(await ask("GET", "/v1/things/special"))).toEqual({ seen: "the special one" });
    expect(jsonOf(await ask("GET", "/v1/things/a%20b%2Fc.d"))).toEqual({ seen: "a b/c.d" });
  });

  test("a parameter that takes slashes gets the rest of the path, and a shorter parameter wins over it", async () => {
    const rest = endpoint({ ...one, path: "/v1/things/{thing_id}", takesSlashes: true });
    const below = endpoint({
      ...base,
      method: "GET",
      path: "/v1/things/{thing_id}/parts",
      run: async () => ({ seen: "parts" }),
    });
    const seen = async (path: string) =>
      jsonOf(await router([list, rest, special, below])(incoming({ method: "GET", path })));
    expect(await seen("/v1/things/a")).toEqual({ seen: "a" });
    expect(await seen("/v1/things/a/b%20c/d%2Fe")).toEqual({ seen: "a/b c/d/e" });
    expect(await seen("/v1/things/special/x")).toEqual({ seen: "special/x" });
    expect(await seen("/v1/things/a/parts")).toEqual({ seen: "parts" });
    expect(await seen("/v1/things")).toEqual({ seen: "list" });
    for (const path of ["/v1/things/", "/v1/things/a//b", "/v1/things/a/", "/v1/things/a/%ff"])
      expect((await seen(path)).detail.code).toBe("NotFound");
  });

  test.each([
    "/v1/nothing",
    "/v1",
    "/v1/things/",
    "/v1/things/a/b",
    "/v1/things/%ff",
    "/v1//things",
    "/V1/things",
  ])("an unknown path is 404: %s", async (path) => {
    const answer = await ask("GET", path);
    expect(answer.status).toBe(404);
    expect(jsonOf(answer).detail.code).toBe("NotFound");
    expect(answer.headers["x-request-id"]).toBeTruthy();
  });

  test("a wrong method is 405 with the allowed methods", async () => {
    const answer = await ask("DELETE", "/v1/things/x");
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, POST, HEAD, OPTIONS");
    expect(jsonOf(answer).detail).toMatchObject({
      code: "MethodNotAllowed",
      details: { allow: ["GET", "POST", "HEAD", "OPTIONS"] },
    });
  });

  test("HEAD is GET without a body, OPTIONS lists the methods", async () => {
    const head = await ask("HEAD", "/v1/things");
    expect(head).toMatchObject({
      status: 200,
      body: null,
      headers: { "content-length": '{"seen":"list"}'.length.toString() },
    });
    expect(await ask("OPTIONS", "/v1/things")).toMatchObject({
      status: 204,
      body: null,
      headers: {
        allow: "GET, HEAD, OPTIONS",
        "x-request-id": expect.stringMatching(/^req_/),
        "x-capstan-version": VERSION,
      },
    });
  });

  test("a Next route file answers as our own server does", async () => {
    const handlers = serve(one, echo);
    const get = await handlers.GET(new Request("http://x/v1/things/a%20b"));
    expect([get.status, await get.json()]).toEqual([200, { seen: "a b" }]);
    const post = await handlers.POST(
      new Request("http://x/v1/things/t?limit=2", {
        method: "POST",
        body: '{"name":"n"}',
        headers: { "content-type": "application/json" },
      }),
    );
    expect((await post.json()).seen.query).toEqual({ limit: 2, tag: [] });
    expect((await handlers.DELETE(new Request("http://x/v1/things/t", { method: "DELETE" }))).status).toBe(
      405,
    );
  });
});
