import { once } from "node:events";
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { bytes, endpoint, type Outgoing, raw } from "@/server/api/endpoint";
import { serve } from "@/server/api/next";
import { router } from "@/server/api/router";
import { log } from "@/server/platform/log/log";
import { withoutRequestId } from "@/testing/requests";
import { makeTenant } from "@/testing/tenants";
import { startServer, type WebServer } from "./server";

let tenant: Awaited<ReturnType<typeof makeTenant>>;
let server: WebServer;
beforeAll(async () => {
  tenant = await makeTenant();
});
afterEach(() => server?.stop(0));

const base = { summary: "", auth: ["anonymous", "service_principal"], output: z.json(), errors: [] } as const;

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

/** Calls without fetch's comforts, so that odd requests can be made. */
async function call(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; agent?: Agent } = {},
) {
  const { body, ...rest } = options;
  const request = httpRequest(`${server.url}${path}`, rest);
  request.end(body);
  const [response]: [IncomingMessage] = await once(request, "response").then(([first]) => [first]);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

const start = async (...endpoints: Parameters<typeof router>[0][number][]) => {
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null, route: router(endpoints) });
};

describe("the API over real HTTP", () => {
  test("requests are answered with their length, over one kept connection", async () => {
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

  test("health, readiness and the API's document", async () => {
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
    for (const accept of ["application/json", "*/*", "text/markdown"]) {
      const index = await call("/", { headers: { accept } });
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

  test("an oversized body is refused at once, and the answer arrives though the caller goes on sending", async () => {
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

  test("what is no HTTP is refused in words", async () => {
    await start();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.end("BLAH\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"code":"InvalidRequest"/);
    const tooLong = await call("/healthz", { headers: { "x-long": "x".repeat(20_000) } });
    expect(tooLong.status).toBe(431);
  });

  test("a target with scheme and host is the path behind it; what is no path is no one's page", async () => {
    server = await startServer({
      host: "127.0.0.1",
      port: 0,
      route: router([item]),
      pages: { handle: async (request, response) => void response.end(`page ${request.url}`) },
    });
    const ask = async (line: string) => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.end(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
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
  ] as const)("a body %s that breaks off is a refusal, and no failure of ours", async (_how, rawBody) => {
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
    // What it would have read, for it is not there any more.
    let tell = (_answer: Outgoing) => {};
    const answer = new Promise<Outgoing>((resolve) => {
      tell = resolve;
    });
    server = await startServer({
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

  test("what is not the API goes to the pages, with the headers every answer has", async () => {
    server = await startServer({
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
    // Next answers these with a 500 of its own.
    expect((await call("/a/%ff/%2f?x=%ff")).body).toBe("page /a/%25ff/%252f?x=%ff");
    expect((await call("/a/%")).body).toBe("page /a/%25");
  });

  test("a page that fails is logged by its path, without the query, which may carry a token", async () => {
    server = await startServer({
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

describe("streams", () => {
  /** An endless body that tells how far it was read, and when it was ended. */
  function endless() {
    const seen = { chunks: 0, ended: false, aborted: false };
    const stream = endpoint({
      ...base,
      method: "GET",
      path: "/v1/stream",
      output: raw("text/event-stream"),
      run: async (ctx) => {
        ctx.signal?.().addEventListener("abort", () => {
          seen.aborted = true;
        });
        return { status: 200, headers: {}, body: chunks() };
      },
    });
    async function* chunks() {
      try {
        for (;;) {
          seen.chunks++;
          yield Buffer.alloc(65_536, 0x61);
          await new Promise(setImmediate);
        }
      } finally {
        seen.ended = true;
      }
    }
    return { seen, stream };
  }

  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise(setImmediate);
  };

  async function open(): Promise<[ClientRequest, IncomingMessage]> {
    const request = httpRequest(`${server.url}/v1/stream`);
    request.on("error", () => {});
    request.end();
    const [response] = await once(request, "response");
    return [request, response];
  }

  test("a reader that does not read holds the source back; one that leaves ends it", async () => {
    const { seen, stream } = endless();
    await start(stream);
    const [request, response] = await open();
    response.pause();
    // The source stops when the buffers between are full.
    let before = -1;
    while (before !== seen.chunks) {
      before = seen.chunks;
      for (let turn = 0; turn < 2000; turn++) await new Promise(setImmediate);
    }
    expect(seen.chunks).toBeLessThan(1_000);
    request.destroy();
    await until(() => seen.ended && seen.aborted);
  });

  test("a stream that breaks is cut off, not ended as if it were whole", async () => {
    await start(
      endpoint({
        ...base,
        method: "GET",
        path: "/v1/stream",
        output: raw("application/octet-stream"),
        run: async () => ({
          status: 200,
          headers: {},
          body: (async function* () {
            yield Buffer.from("half");
            throw new Error("the disk is gone");
          })(),
        }),
      }),
    );
    await expect(call("/v1/stream")).rejects.toThrow();
  });

  test("a body is taken no faster than it is read", async () => {
    let taken = 0;
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    await start(
      endpoint({
        ...base,
        method: "POST",
        path: "/v1/upload",
        rawBody: true,
        run: async (_ctx, { incoming }) => {
          await gate;
          for await (const chunk of incoming.body ?? []) taken += chunk.byteLength;
          return taken;
        },
      }),
    );
    const request = httpRequest(`${server.url}/v1/upload`, { method: "POST" });
    const size = 64 * 1024 * 1024;
    const chunk = Buffer.alloc(1024 * 1024);
    let sent = 0;
    while (sent < size && request.write(chunk)) sent += chunk.length;
    expect(sent).toBeLessThan(size);
    release();
    for (sent += chunk.length; sent < size; sent += chunk.length) {
      if (!request.write(chunk)) await once(request, "drain");
    }
    request.end();
    const [response] = await once(request, "response");
    let text = "";
    for await (const part of response) text += part;
    expect(text).toBe(String(size));
  });
});

describe("stopping", () => {
  test("a process that stops is not ready, and says so on a connection it still has", async () => {
    let finish: () => void = () => {};
    const get = { ...base, method: "GET" } as const;
    const slow = endpoint({
      ...get,
      path: "/v1/slow",
      run: () =>
        new Promise<string>((done) => {
          finish = () => done("done");
        }),
    });
    const go = endpoint({ ...get, path: "/v1/go", run: async () => finish() ?? "gone" });
    await start(slow, go);
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    socket.write(ask("/v1/slow"));
    await call("/healthz"); // answered after the request before it has been taken
    const stopped = server.stop(60_000);
    socket.write(ask("/readyz") + ask("/v1/go"));
    let text = "";
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(
      /200 OK[\s\S]*"done"[\s\S]*503 Service Unavailable[\s\S]*connection: close[\s\S]*"draining"/i,
    );
    await stopped;
  });

  test("running requests end, idle connections close, nothing new is taken", async () => {
    let finish: () => void = () => {};
    const entered = new Promise<void>((resolve) => {
      const slow = endpoint({
        ...base,
        method: "GET",
        path: "/v1/slow",
        run: () =>
          new Promise<string>((done) => {
            finish = () => done("done");
            resolve();
          }),
      });
      void start(slow).then(() => running.push(call("/v1/slow")));
    });
    const running: ReturnType<typeof call>[] = [];
    await entered;
    const stopped = server.stop(60_000);
    await expect(call("/healthz")).rejects.toThrow();
    finish();
    expect(await running[0]).toMatchObject({ status: 200, body: '"done"' });
    await stopped;
  });

  test("what does not end within the grace is cut", async () => {
    await start(
      endpoint({ ...base, method: "GET", path: "/v1/never", run: () => new Promise<never>(() => {}) }),
    );
    const running = call("/v1/never");
    const outcome = expect(running).rejects.toThrow();
    await call("/healthz"); // answered after the request before it has been taken
    await server.stop(10);
    await outcome;
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
