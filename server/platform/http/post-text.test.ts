import { createServer } from "node:net";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { postText } from "./post-text";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

describe("posts to addresses of callers", () => {
  const rules = { allowHttp: true, allowPrivateAddresses: false };
  const post = (address: string, more: Partial<typeof rules> & { signal?: AbortSignal } = {}) =>
    postText(
      address,
      "{}",
      { "content-type": "application/json" },
      { ...rules, signal: AbortSignal.timeout(10_000), ...more },
    );

  /** Counts connections at the socket, on every address of this machine. */
  async function startSockets() {
    let count = 0;
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    const server = createServer((socket) => {
      count += 1;
      socket.on("error", () => {});
      socket.once("data", () => socket.end(answer));
    });
    await new Promise<void>((listening) => server.listen(0, "::", listening));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    return { port, count: () => count, stop: () => new Promise((closed) => server.close(closed)) };
  }

  /** Spellings of this machine, its networks and addresses that only look public; each is used with the port of the sockets. */
  const PRIVATE = [
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127.0.0.1.",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "hooks.localhost",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fe80::1]",
    "[ff02::1]",
    "[2001:db8::1]",
  ];

  test("a private address of the corpus opens no socket, and is refused with a sentence", async () => {
    const sockets = await startSockets();
    try {
      for (const host of PRIVATE) {
        for (const scheme of ["http", "https"]) {
          const outcome = await post(`${scheme}://${host}:${sockets.port}/`);
          expect(outcome, host).toEqual({ status: null, error: expect.stringContaining("private") });
        }
      }
      expect(sockets.count()).toBe(0);
      // The count works: if the operator allows it, the same addresses are reached.
      const allowed = { allowPrivateAddresses: true };
      for (const host of ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"])
        expect((await post(`http://${host}:${sockets.port}/`, allowed)).status, host).toBe(200);
      expect(sockets.count()).toBe(4);
    } finally {
      await sockets.stop();
    }
  });

  test("the name of this machine opens no socket, because its address is private or unknown", async () => {
    const sockets = await startSockets();
    try {
      // The machine's own name resolves to a private address, or not at all.
      const outcome = await post(`http://${hostname()}:${sockets.port}/`);
      expect(outcome).toMatchObject({ status: null, error: expect.stringMatching(/private|resolved/) });
      expect(sockets.count()).toBe(0);
    } finally {
      await sockets.stop();
    }
  });

  test("a connection that was allowed does not serve a post that is not allowed", async () => {
    vendor.answer({ json: {} });
    expect((await post(vendor.url, { allowPrivateAddresses: true })).status).toBe(200);
    const before = vendor.connections();
    expect((await post(vendor.url)).status).toBeNull();
    expect(vendor.connections()).toBe(before);
    expect(vendor.arrived).toHaveLength(1);
  });

  test("a redirect is an answer like any other, and is not followed", async () => {
    const sockets = await startSockets();
    try {
      vendor.answer({ status: 307, headers: { location: `http://127.0.0.1:${sockets.port}/` } });
      expect(await post(vendor.url, { allowPrivateAddresses: true })).toEqual({ status: 307, error: null });
      expect(sockets.count()).toBe(0);
    } finally {
      await sockets.stop();
    }
  });

  test("an endless answer is cut off and its status counts; silence ends with the caller's signal", async () => {
    const allowed = { allowPrivateAddresses: true };
    vendor.answer("endless");
    expect(await post(vendor.url, allowed)).toEqual({ status: 200, error: null });
    vendor.answer("silent");
    const patience = new AbortController();
    const waiting = post(vendor.url, { ...allowed, signal: patience.signal });
    await vi.waitFor(() => expect(vendor.arrived).toHaveLength(1), { interval: 5 });
    patience.abort();
    expect(await waiting).toEqual({ status: null, error: "The receiver did not respond in time." });
    expect(await post(vendor.url, { ...allowed, signal: AbortSignal.abort() })).toMatchObject({
      status: null,
    });
    expect(vendor.arrived).toHaveLength(1);
    for (const script of ["close", "reset"] as const) {
      vendor.answer(script);
      const outcome = await post(vendor.url, allowed);
      expect(outcome).toEqual({ status: null, error: expect.stringContaining("lost before") });
    }
    await vendor.stop();
    const closed = await post(vendor.url, allowed);
    expect(closed).toEqual({ status: null, error: "The receiver refused the connection." });
    vendor = await startVendor();
  });
});
