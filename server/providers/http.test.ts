import { createServer } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toSecrets } from "@/server/platform/crypto/secret";
import { HOUR_MS } from "@/server/platform/time/units";
import { ProviderFault } from "./define";
import { getJson, type HttpIo, postForEvents, postJson, safeWord } from "./http";
import { caughtFault, everythingOf, startVendor, type Vendor } from "./testing/vendor";

const SECRET = "sk-canary-9f8e7d6c5b4a3f2e1d0c";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const io = (more: Partial<HttpIo> = {}): HttpIo => ({
  baseUrl: vendor.url,
  credentials: toSecrets({ apiKey: SECRET }),
  signal: new AbortController().signal,
  allowPrivateAddresses: true,
  ...more,
});
const ask = (more: Partial<HttpIo> = {}) =>
  postJson(io(more), "/v1/text", {
    body: { question: "why?" },
    headers: { authorization: `Bearer ${SECRET}` },
  });
const verdict = ({ kind, submission }: ProviderFault) => `${kind}/${submission}`;

describe("an answered request", () => {
  test("a request arrives once, unchanged, and asks for no compression", async () => {
    vendor.answer({ json: { ok: true }, headers: { "x-request-id": "req_1" } });
    const reply = await ask();
    expect(reply.body).toEqual({ ok: true });
    expect(reply.header("x-request-id")).toBe("req_1");
    expect(vendor.arrived.map(({ bytes: _asText, ...seen }) => seen)).toEqual([
      {
        method: "POST",
        path: "/v1/text",
        body: '{"question":"why?"}',
        headers: {
          host: `127.0.0.1:${vendor.port}`,
          connection: "keep-alive",
          accept: "application/json",
          "accept-encoding": "identity",
          authorization: `Bearer ${SECRET}`,
          "content-type": "application/json",
          "content-length": "19",
          "user-agent": "capstan",
        },
      },
    ]);
  });

  test("a request's URL keeps the path prefix and the query of the base URL", async () => {
    vendor.answer({ json: {} });
    await getJson(io({ baseUrl: `${vendor.url}/tenant/v1/?api-version=2` }), "/jobs/7", { headers: {} });
    expect(vendor.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /tenant/v1/jobs/7?api-version=2",
    ]);
  });

  test("sequential requests reuse one connection", async () => {
    vendor.answer({ json: {} });
    await ask();
    const before = vendor.connections();
    for (let call = 0; call < 20; call += 1) await ask();
    expect(vendor.connections() - before).toBeLessThanOrEqual(1);
  });

  test("each call is one request, even if the vendor closes connections at will", async () => {
    vendor.answer(
      ...Array.from({ length: 60 }, (_, index) => ({
        json: {},
        headers: index % 3 === 0 ? { connection: "close" } : undefined,
      })),
    );
    const calls = Array.from({ length: 60 }, () => ask());
    await Promise.all(calls);
    expect(vendor.arrived).toHaveLength(60);
  });
});

describe("a request that never left", () => {
  test.each([
    ["no one listens", () => ({ baseUrl: "http://127.0.0.1:1" })],
    ["the name does not exist", () => ({ baseUrl: "http://nothing.invalid" })],
    ["there is no TLS on the other side", () => ({ baseUrl: `https://127.0.0.1:${vendor.port}` })],
    ["the base URL is not a URL", () => ({ baseUrl: "not a url" })],
    ["the base URL carries credentials", () => ({ baseUrl: `http://user:pass@127.0.0.1:${vendor.port}` })],
    ["the base URL is not https", () => ({ baseUrl: "http://example.com", allowPrivateAddresses: false })],
    ["the scheme is another one", () => ({ baseUrl: "ftp://example.com" })],
  ])("a request is not attempted if %s", async (_case, more) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(ask(more()));
    expect(verdict(fault)).toBe("unreachable/not_attempted");
    expect(vendor.arrived).toEqual([]);
  });

  test.each([
    "https://127.0.0.1",
    "https://2130706433",
    "https://0177.0.0.1",
    "https://10.1.2.3",
    "https://169.254.169.254",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://[64:ff9b::7f00:1]",
    "https://[2002:7f00:1::]",
    "https://[fd00::1]",
    "https://localhost",
  ])("a request to the private address %s is not attempted", async (origin) => {
    const before = vendor.connections();
    const fault = await caughtFault(
      ask({ baseUrl: `${origin}:${vendor.port}`, allowPrivateAddresses: false }),
    );
    expect(verdict(fault)).toBe("unreachable/not_attempted");
    expect(fault.message).toContain("private");
    expect(vendor.connections()).toBe(before);
  });

  test("the refusal of a base URL without TLS names the setting that allows it", async () => {
    const plain = await caughtFault(ask({ baseUrl: "http://model.example", allowPrivateAddresses: false }));
    expect(plain.message).toContain("https");
    expect(plain.message).toContain("ALLOW_PRIVATE_ADDRESSES=1");
  });

  test("connections are not shared between calls with different address rules", async () => {
    vendor.answer({ json: {} });
    await ask();
    const fault = await caughtFault(ask({ allowPrivateAddresses: false }));
    expect(verdict(fault)).toBe("unreachable/not_attempted");
  });

  test("a request is not attempted if its signal has already ended", async () => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(ask({ signal: AbortSignal.abort() }));
    expect(verdict(fault)).toBe("unreachable/not_attempted");
    expect(fault.details.aborted).toBe(true);
    expect(vendor.arrived).toEqual([]);
  });

  test("a request is not attempted if its signal ends while connecting", async () => {
    // The server accepts and sends nothing, so the TLS handshake waits.
    let connected = () => {};
    const opened = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const sockets: { destroy(): void }[] = [];
    const mute = createServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      connected();
    });
    await new Promise<void>((listening) => mute.listen(0, "127.0.0.1", listening));
    const address = mute.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const stop = new AbortController();
    const call = caughtFault(ask({ baseUrl: `https://127.0.0.1:${port}`, signal: stop.signal }));
    await opened;
    stop.abort();
    const fault = await call;
    expect(verdict(fault)).toBe("unreachable/not_attempted");
    expect(fault.details.aborted).toBe(true);
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => mute.close(closed));
  });
});

describe("a request without an answer", () => {
  test.each(["close", "reset", "cut"] as const)(
    "a request is ambiguous if the vendor reads it and ends the answer with: %s",
    async (script) => {
      vendor.answer(script);
      const fault = await caughtFault(ask());
      expect(verdict(fault)).toBe("lost/ambiguous");
      expect(fault.details.aborted).toBeUndefined();
      expect(vendor.arrived).toHaveLength(1);
    },
  );

  test("a request is ambiguous if our own signal ends it, and the fault reports the abort", async () => {
    vendor.answer("silent");
    const stop = new AbortController();
    const call = caughtFault(ask({ signal: stop.signal }));
    await expect.poll(() => vendor.arrived.length).toBe(1);
    stop.abort();
    const fault = await call;
    expect(verdict(fault)).toBe("lost/ambiguous");
    expect(fault.details.aborted).toBe(true);
  });
});

describe("an error answer", () => {
  test.each([
    [400, {}, {}, "refused"],
    [401, {}, {}, "refused"],
    [403, {}, {}, "refused"],
    [404, {}, {}, "refused"],
    [409, {}, {}, "refused"],
    [422, {}, {}, "refused"],
    [408, {}, {}, "failed"],
    [429, {}, {}, "capacity"],
    [529, {}, {}, "capacity"],
    [503, { error: { type: "overloaded_error" } }, {}, "capacity"],
    [503, {}, { "retry-after": "3" }, "capacity"],
    [503, {}, {}, "failed"],
    [500, {}, {}, "failed"],
    [502, {}, {}, "failed"],
    [504, {}, {}, "failed"],
  ])("the error %i %j %j is %s", async (status, json, headers, kind) => {
    vendor.answer({ status, json, headers: { "x-request-id": "req_9", ...headers } });
    const fault = await caughtFault(ask());
    expect(verdict(fault)).toBe(`${kind}/attempted`);
    expect(fault.details).toMatchObject({ status, providerRequestId: "req_9" });
    expect(vendor.arrived).toHaveLength(1);
  });

  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
    [{ "retry-after": "86400" }, 24 * HOUR_MS],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 0],
  ])("429 with %j requests a wait of %s ms", async (headers, expected) => {
    vendor.answer({ status: 429, headers });
    expect((await caughtFault(ask())).details.retryAfterMs).toBe(expected);
  });

  test("a redirect is refused and not followed", async () => {
    const other = await startVendor();
    vendor.answer({ status: 307, headers: { location: `${other.url}/v1/text` } });
    expect(verdict(await caughtFault(ask()))).toBe("refused/attempted");
    expect(other.connections()).toBe(0);
    await other.stop();
  });

  test.each([
    ["no JSON", { text: "<html>" }],
    ["nothing", { text: "" }],
    ["JSON that is not in the coding it names", { json: {}, headers: { "content-encoding": "gzip" } }],
    ["JSON in a coding that is not known", { json: {}, headers: { "content-encoding": "zstd" } }],
    ["events though no one reads them", { text: "data: {}\n\n" }],
  ])("a success with %s is a failure", async (_case, script) => {
    vendor.answer(script);
    expect(verdict(await caughtFault(ask()))).toBe("failed/attempted");
  });

  test("an answer above the size limit is cut off and is a failure", async () => {
    vendor.answer("endless");
    const fault = await caughtFault(
      postJson(io(), "/", { body: {}, headers: {}, maxResponseBytes: 1_000_000 }),
    );
    expect(verdict(fault)).toBe("failed/attempted");
    expect(fault.message).toContain("1000000");
  });

  test("an answer that decompresses beyond the limit is a failure, and an error keeps its status", async () => {
    const headers = { "content-encoding": "br" };
    const bytes = brotliCompressSync(`{"a":"${"a".repeat(2_000_000)}"}`);
    vendor.answer({ headers, bytes });
    const fault = await caughtFault(
      postJson(io(), "/", { body: {}, headers: {}, maxResponseBytes: 1_000_000 }),
    );
    expect([verdict(fault), fault.message]).toEqual([
      "failed/attempted",
      "The provider's answer is larger than 1000000 bytes.",
    ]);
    vendor.answer({ headers, bytes, status: 400 });
    expect((await caughtFault(ask())).details).toMatchObject({ status: 400, vendor: null });
  });

  test("the text of a compressed error is read", async () => {
    const error = { error: { code: "bad_model", message: "No such model." } };
    const bytes = gzipSync(JSON.stringify(error));
    vendor.answer({ status: 400, headers: { "content-encoding": "gzip" }, bytes });
    const { details } = await caughtFault(ask());
    expect(details.vendor).toEqual({ code: "bad_model", message: "No such model." });
    vendor.answer({ status: 400, headers: { "content-encoding": "gzip" }, bytes: bytes.subarray(0, 20) });
    expect((await caughtFault(ask())).details).toMatchObject({ status: 400, vendor: null });
  });

  test("a provider can replace kind and message of its vendor's error", async () => {
    vendor.answer({ status: 429, json: { error: { code: "insufficient_quota" } } });
    const fault = await caughtFault(
      postJson(io(), "/", {
        body: {},
        headers: {},
        explain: () => ({ kind: "refused", message: "No credit left." }),
      }),
    );
    expect(verdict(fault)).toBe("refused/attempted");
    expect(fault.message).toBe("No credit left. (HTTP 429)");
  });
});

describe("an untrusted answer", () => {
  test.each([400, 401, 429, 500, 503])("a %i that echoes the key is reported without it", async (status) => {
    const echo = `Incorrect key: Bearer ${SECRET}`;
    vendor.answer({
      status,
      json: { error: { message: echo, code: SECRET, type: echo, param: SECRET } },
      headers: { "x-request-id": SECRET, "retry-after": SECRET },
    });
    const fault = await caughtFault(ask());
    expect(everythingOf(fault)).not.toContain(SECRET.slice(0, 12));
    expect(everythingOf(fault)).not.toContain(SECRET.slice(-12));
  });

  test("an answer that is not JSON is reported without the key", async () => {
    vendor.answer({ text: `Bearer ${SECRET}` });
    expect(everythingOf(await caughtFault(ask()))).not.toContain(SECRET.slice(0, 12));
  });

  test("a JSON answer is returned with the key redacted", async () => {
    vendor.answer({ json: { text: `I heard ${SECRET}.`, [SECRET]: [SECRET] } });
    const expected = { text: "I heard [redacted].", "[redacted]": ["[redacted]"] };
    expect(await ask()).toMatchObject({ body: expected, hadCredential: true });
    vendor.answer({ text: `{"text": "I heard ${SECRET.replace("-", "\\u002d")}."}` });
    expect((await ask()).body).toEqual({ text: "I heard [redacted]." });
    vendor.answer({ json: { text: "I heard nothing." } });
    expect((await ask()).hadCredential).toBeUndefined();
  });

  test("an event of a stream is passed on with the key redacted", async () => {
    const texts: string[] = [];
    vendor.answer({
      headers: { "content-type": "text/event-stream" },
      text: `data: I heard ${SECRET}.\n\ndata: That is all.\n\n`,
    });
    await postForEvents(io(), "/v1/text", {
      body: {},
      headers: {},
      onEvent: ({ data }) => {
        texts.push(data);
        return "more";
      },
    });
    expect(texts).toEqual(["I heard [redacted].", "That is all."]);
  });

  test("the error text of an event is reported", async () => {
    vendor.answer({
      headers: { "content-type": "text/event-stream" },
      text: `data: {"error":{"type":"overloaded_error","message":"Busy, ${SECRET}."}}\n\n`,
    });
    const fails = () => {
      throw new ProviderFault("failed", "attempted", "The provider failed.");
    };
    const fault = await caughtFault(
      postForEvents(io(), "/v1/text", { body: {}, headers: {}, onEvent: fails }),
    );
    expect(fault.message).toBe("The provider failed.");
    expect(fault.details.vendor).toEqual({ code: "overloaded_error", message: "Busy, [redacted]." });
  });

  test("a very short credential is not redacted", async () => {
    vendor.answer({ json: { text: "a local model" } });
    expect((await ask({ credentials: toSecrets({ apiKey: "local" }) })).body).toEqual({
      text: "a local model",
    });
  });

  test("short words are safe, sentences and parts of a credential are not", () => {
    const guard = { credentials: toSecrets({ apiKey: SECRET }) };
    expect(safeWord("req_0123abc", guard)).toBe("req_0123abc");
    expect(safeWord("models/gpt-5.6-luna:free", guard)).toBe("models/gpt-5.6-luna:free");
    expect(safeWord(`x${SECRET.slice(4, 18)}y`, guard)).toBeNull();
    expect(safeWord("two words", guard)).toBeNull();
    expect(safeWord("x".repeat(201), guard)).toBeNull();
    expect(safeWord(null, guard)).toBeNull();
  });
});
