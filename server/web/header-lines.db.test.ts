import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fromNodeOutgoingHttpHeaders } from "next/dist/server/web/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "@/server/api/endpoint";
import { keepLinesApart } from "@/server/api/header-lines";
import { serve } from "@/server/api/next";
import { base, openTenant, server, start, tenant } from "./server.fixture";

/* Reads header bytes in our own server, and after Next has read them first. */

const echo = endpoint({
  ...base,
  method: "POST",
  path: "/v1/echo",
  idempotent: true,
  body: z.looseObject({}),
  run: async (_ctx, { idempotencyKey }) => ({ ...idempotencyKey }),
});

/** Builds a handler's request from Node's as Next does: from its joined headers. */
const next = createServer(async (request, response) => {
  const headers = fromNodeOutgoingHttpHeaders(request.headers);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const asked = new Request("http://capstan.test/v1/echo", {
    method: "POST",
    headers,
    body: Buffer.concat(chunks),
  });
  const answer = await serve(echo).POST(asked);
  response.writeHead(answer.status).end(await answer.text());
});

beforeAll(async () => {
  await openTenant();
  await start(echo);
  keepLinesApart();
  await once(next.listen(0, "127.0.0.1"), "listening");
});
afterAll(async () => {
  await server.stop(0);
  next.close();
});

/** Sends these bytes as one line each. */
async function send(url: string, lines: Buffer[]) {
  const request = httpRequest(`${url}/v1/echo`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tenant.apiKey}`,
      "content-type": "application/json",
      "idempotency-key": lines.map((line) => line.toString("latin1")),
    },
  });
  request.end(Buffer.from("{}")); // with a text Node would send the head in its encoding
  const [response]: [IncomingMessage] = await once(request, "response").then(([first]) => [first]);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, json: JSON.parse(Buffer.concat(chunks).toString()) };
}

const utf8 = (text: string) => Buffer.from(text, "utf8");
const latin1 = (text: string) => Buffer.from(text, "latin1");

test("a key in a header is the same text, whichever host receives it", async () => {
  const hosts = [server.url, `http://127.0.0.1:${(next.address() as AddressInfo).port}`];
  for (const host of hosts) {
    const key = async (...lines: Buffer[]) => (await send(host, lines)).json;
    expect(await key(utf8("order-1"))).toEqual({ key: "order-1" });
    expect(await key(utf8("a, b"))).toEqual({ key: "a, b" });
    expect(await key(utf8("clé-1"))).toEqual({ key: "clé-1", former: "clÃ©-1" });
    expect(await key(latin1("clé-1"))).toEqual({ key: "clé-1" });
    expect(await key(utf8('"k"'))).toEqual({ key: "k", former: '"k"' });
    expect(await key(utf8("k"), utf8("k"))).toEqual({ key: "k", former: "k, k" });
    expect(await key(utf8("é"), latin1("é"))).toEqual({ key: "é", former: "Ã©, é" });
    for (const lines of [
      ["a", "b"],
      ["k", ""],
      ["a, b", "a"],
    ]) {
      const refused = await send(host, lines.map(utf8));
      expect([refused.status, refused.json.detail?.[0]?.loc]).toEqual([422, ["header", "Idempotency-Key"]]);
    }
  }
});
