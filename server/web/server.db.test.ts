import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { bytes, endpoint, type Outgoing } from "@/server/api/endpoint";
import { serve } from "@/server/api/next";
import { router } from "@/server/api/router";
import { log } from "@/server/platform/log/log";
import { withoutRequestId } from "@/testing/requests";
import { base, call, openTenant, server, start, startWith, tenant } from "./server.fixture";

beforeAll(openTenant);
afterEach(() => server?.stop(0));

const echo = endpoint({
  ...base,
  method: "POST",
  path: "/v1/echo/{name}",
  params: z.object({ name: z.string() }),
  query: z.object({ q: z.string().optional() }),
  body: z.looseObject({}).optional(),
  run: async (ctx, request) => ({
    kind: ctx.principal.kind,
    params: request.params,
    q: request.query.q ?? null,
    body: request.body === undefined ? null : JSON.parse(JSON.stringify(request.body)),
  }),
});
const item = endpoint({
  ...base,
  method: "GET",
  path: "/v1/items/{id}",
  params: z.object({ id: z.string() }),
  run: async (_ctx, { params }) => params.id,
});

describe("the API over real HTTP", () => {
  test("responses to a client that keeps its connection state their content length", async () => {
    await start(echo, item);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const name of ["a", "b%20c"]) {
      const answer = await call(`/v1/echo/${name}?q=1`, {
        method: "POST",
        agent,
        headers: { authorization: `Bearer ${tenant.apiKey}`, "content-type": "application/json" },
        body: '{"x":[1,"ü"]}',
      });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body)).toEqual({
        kind: "service_principal",
        params: { name: decodeURIComponent(name) },
        q: "1",
        body: { x: [1, "ü"] },
      });
      expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.body)));
      expect(answer.headers["x-request-id"]).toBeTruthy();
    }
    agent.destroy();
  });

  test("health, readiness and the API's document are served", async () => {
    await start();
    expect(await call("/healthz")).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(await call("/readyz")).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    const document = await call("/openapi.json");
    expect(JSON.parse(document.body).openapi).toBe("3.1.0");
    const llms = await call("/llms.txt");
    expect(llms.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(llms.body).toMatch(/^# Capstan\n/);
    const manifest = await call("/.well-known/capstan.json");
    expect(JSON.parse(manifest.body).documents.openapi).toMatch(/\/openapi\.json$/);
    for (const { headers } of [document, llms, manifest]) expect(headers.etag).toMatch(/^"\w+"$/);
    for (const [path, { headers }] of [
      ["/openapi.json", document],
      ["/llms.txt", llms],
      ["/.well-known/capstan.json", manifest],
    ] as const)
      for (const known of [headers.etag, `W/${headers.etag}`, `"other" ,${headers.etag}`, "*"])
        expect((await call(path, { headers: { "if-none-match": String(known) } })).status).toBe(304);
    for (const path of [
      "/healthz",
      "/readyz",
      "/metrics",
      "/openapi.json",
      "/llms.txt",
      "/v1/nothing",
      "/nothing",
    ]) {
      expect((await call(path)).headers).toMatchObject({
        "x-request-id": expect.any(String),
        "x-capstan-version": expect.any(String),
      });
    }
    const programs: Record<string, string>[] = [
      {},
      ...["application/json", "*/*", "text/markdown"].map((accept) => ({ accept })),
    ];
    for (const headers of programs) {
      const index = await call("/", { headers });
      expect(JSON.parse(index.body).documents.guides).toBe("/docs/index.md");
      expect(Buffer.byteLength(index.body)).toBeLessThan(1_024);
    }
    const pages: Record<string, string>[] = [{ accept: "text/html,*/*;q=0.8" }, { accept: "*/*", rsc: "1" }];
    for (const headers of pages) expect((await call("/", { headers })).body).not.toContain("documents");
    const page = await call("/docs/errors/NotFound.md");
    expect(page).toMatchObject({ status: 200, body: expect.stringMatching(/^# NotFound\n/) });
    expect(page.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(await call("/healthz", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  });

  test("an oversized body is refused at once, and the answer arrives although the caller goes on sending", async () => {
    await start(echo);
    const request = httpRequest(`${server.url}/v1/echo/x`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": 500_000_000 },
    });
    request.on("error", () => {}); // the connection is closed under the rest of the body
    request.write("{");
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(413);
    expect(response.headers.connection).toBe("close");
    request.destroy();
    const chunked = httpRequest(`${server.url}/v1/echo/x`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    chunked.on("error", () => {});
    const flood = setInterval(() => chunked.write(Buffer.alloc(300_000, 0x20)), 1);
    const [refused] = await once(chunked, "response");
    clearInterval(flood);
    expect(refused.statusCode).toBe(413);
    chunked.destroy();
    expect((await call("/healthz")).status).toBe(200);
  });

  test("input that is not HTTP is refused with 400, and too long headers with 431", async () => {
    await start();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.end("BLAH\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"code":"InvalidRequest"/);
    const tooLong = await call("/healthz", { headers: { "x-long": "x".repeat(20_000) } });
    expect(tooLong.status).toBe(431);
  });

  test("a target with scheme and host means its path, and a target that is not a path reaches no page", async () => {
    await startWith({
      host: "127.0.0.1",
      port: 0,
      route: router([item]),
      pages: { handle: async (request, response) => void response.end(`page ${request.url}`) },
    });
    const ask = async (line: string) => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.end(`${line} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
      let text = "";
      for await (const part of socket) text += part;
      return [Number(text.slice(9, 12)), text.split("\r\n\r\n")[1]];
    };
    expect(await ask("GET http://elsewhere.example/v1/items/1?x=1")).toEqual([200, '"1"']);
    expect(await ask("GET HTTP://elsewhere.example/any//thing?x=http://y/")).toEqual([
      200,
      expect.stringContaining("page /any//thing?x=http://y/"),
    ]);
    expect(await ask("GET http://elsewhere.example?x=1")).toEqual([
      200,
      expect.stringContaining("page /?x=1"),
    ]);
    for (const method of ["OPTIONS", "GET"])
      expect(await ask(`${method} *`)).toEqual([404, expect.stringContaining('"NotFound"')]);
  });

  test.each([
    ["read as JSON", undefined],
    ["taken as it comes", true],
  ] as const)("a body %s that breaks off is refused with 422", async (_how, rawBody) => {
    const taken = endpoint({
      ...base,
      method: "POST",
      path: "/v1/taken",
      ...(rawBody ? { rawBody } : { body: z.looseObject({}) }),
      run: async (_ctx, { incoming }) => {
        for await (const _piece of incoming.body ?? []);
        return null;
      },
    });
    // The answer that the caller would have read, had its connection not ended.
    let tell = (_answer: Outgoing) => {};
    const answer = new Promise<Outgoing>((resolve) => {
      tell = resolve;
    });
    await startWith({
      host: "127.0.0.1",
      port: 0,
      pages: null,
      route: async (incoming) => {
        const given = await router([taken])(incoming);
        tell(given);
        return given;
      },
    });
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(
      'POST /v1/taken HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"x":',
      () => socket.destroy(),
    );
    expect(await answer).toMatchObject({ status: 422, body: expect.stringContaining('"body_incomplete"') });
  });

  test("a path outside the API goes to the pages, with the headers that every answer has", async () => {
    await startWith({
      host: "127.0.0.1",
      port: 0,
      route: router([item]),
      pages: {
        handle: async (request, response) => {
          response.end(`page ${request.url}`);
        },
      },
    });
    expect(await call("/anything?x=1")).toMatchObject({
      status: 200,
      body: "page /anything?x=1",
      headers: { "x-request-id": expect.any(String) },
    });
    expect(await call("/healthz", { method: "POST" })).toMatchObject({ body: "page /healthz" });
    expect((await call("/v1/items/1")).body).toBe('"1"');
    expect((await call("/v1x")).body).toBe("page /v1x");
    expect((await call("/a/%2f?x=%ff")).body).toBe("page /a/%2f?x=%ff");
    // Next would answer these with a 500 of its own.
    expect((await call("/a/%ff/%2f?x=%ff")).body).toBe("page /a/%25ff/%252f?x=%ff");
    expect((await call("/a/%")).body).toBe("page /a/%25");
  });

  test("a page that fails is logged by its path, without the query, which may carry a token", async () => {
    await startWith({
      host: "127.0.0.1",
      port: 0,
      pages: { handle: () => Promise.reject(new Error("a page failed")) },
    });
    const logged = vi.spyOn(log, "error");
    expect((await call("/invitation?token=kept-secret")).status).toBe(500);
    const said = logged.mock.calls.map((each) => JSON.stringify(each));
    logged.mockRestore();
    expect(said).toEqual([expect.stringContaining('"path":"/invitation"')]);
    expect(said.join()).not.toContain("kept-secret");
  });
});

test("a Next host gives the same answers as our own server", async () => {
  const ready = endpoint({
    ...base,
    method: "GET",
    path: "/v1/ready",
    run: async () => bytes({ body: "[1]", headers: { "content-type": "application/json", etag: '"1"' } }),
  });
  await start(echo, item, ready);
  const key = { authorization: `Bearer ${tenant.apiKey}` };
  const json = { "content-type": "application/json" };
  const hosts: Record<string, ReturnType<typeof serve>> = {
    "/v1/echo": serve(echo),
    "/v1/items": serve(item),
    "/v1/ready": serve(ready),
  };
  const asked: [string, string, Record<string, string>, string?][] = [
    ["GET", "/v1/items/a%2Fb?x=1&x=2", key],
    ["GET", "/v1/ready", {}],
    ["HEAD", "/v1/items/1", {}],
    ["OPTIONS", "/v1/items/1", {}],
    ["DELETE", "/v1/items/1", key],
    ["GET", "/v1/items/%ff", key],
    ["GET", "/v1/items/1", { authorization: "Bearer nope" }],
    ["POST", "/v1/echo/n", { ...key, ...json }, '{"a":{"b":[null,1.5]}}'],
    ["POST", "/v1/echo/n?q=1&q=2", { ...key, ...json }, "{}"],
    ["POST", "/v1/echo/n", { ...key, ...json }, '{"a":1,"a":2}'],
    ["POST", "/v1/echo/n", { ...key, "content-type": "text/plain" }, "{}"],
    ["POST", "/v1/echo/n", key],
  ];
  for (const [method, path, headers, body] of asked) {
    const ours = await call(path, { method, headers, body });
    const host = Object.entries(hosts).find(([prefix]) => path.startsWith(prefix))?.[1] ?? serve();
    const handler = host[method as keyof typeof host]; // every method asked for above is served
    const theirs = await handler(new Request(`http://capstan.test${path}`, { method, headers, body }));
    const named = ["content-type", "allow", "etag", "cache-control", "www-authenticate", "ratelimit-limit"];
    expect([method, path, theirs.status, withoutRequestId(await theirs.text())]).toEqual([
      method,
      path,
      ours.status,
      withoutRequestId(ours.body),
    ]);
    for (const name of ["x-request-id", "x-capstan-version"]) {
      expect([name, theirs.headers.get(name), ours.headers[name]]).toEqual([
        name,
        expect.stringMatching(/./),
        expect.stringMatching(/./),
      ]);
    }
    for (const name of named)
      expect([name, theirs.headers.get(name)]).toEqual([name, ours.headers[name] ?? null]);
  }
});
