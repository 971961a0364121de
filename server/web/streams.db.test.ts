import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { endpoint, raw } from "@/server/api/endpoint";
import { base, call, openTenant, server, start } from "./server.fixture";

beforeAll(openTenant);
afterEach(() => server?.stop(0));

describe("streams", () => {
  /** An endless body that records how many chunks were read, and whether it was ended or aborted. */
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

  test("a reader that does not read holds the source back, and one that leaves ends it", async () => {
    const { seen, stream } = endless();
    await start(stream);
    const [request, response] = await open();
    response.pause();
    // The source stops once the buffers between are full.
    let before = -1;
    while (before !== seen.chunks) {
      before = seen.chunks;
      for (let turn = 0; turn < 2000; turn++) await new Promise(setImmediate);
    }
    expect(seen.chunks).toBeLessThan(1_000);
    request.destroy();
    await until(() => seen.ended && seen.aborted);
  });

  test("a stream that breaks is cut off, and not ended as if it were complete", async () => {
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
  test("a stopping process is not ready, and says so on a connection that it still has", async () => {
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
    await call("/healthz"); // answered after the earlier request has been taken
    const stopped = server.stop(60_000);
    socket.write(ask("/readyz") + ask("/v1/go"));
    let text = "";
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(
      /200 OK[\s\S]*"done"[\s\S]*503 Service Unavailable[\s\S]*connection: close[\s\S]*"draining"/i,
    );
    await stopped;
  });

  test("a stopping process lets running requests end, closes idle connections and takes nothing new", async () => {
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

  test("a request that does not end within the grace period is cut", async () => {
    await start(
      endpoint({ ...base, method: "GET", path: "/v1/never", run: () => new Promise<never>(() => {}) }),
    );
    const running = call("/v1/never");
    const outcome = expect(running).rejects.toThrow();
    await call("/healthz"); // answered after the earlier request has been taken
    await server.stop(10);
    await outcome;
  });
});
