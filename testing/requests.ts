import { randomBytes } from "node:crypto";
import type { Incoming, Outgoing } from "@/server/api/transport";

type Asked = {
  method?: string;
  path?: string;
  query?: string;
  /** A header that is undefined is not sent. */
  headers?: Record<string, string | undefined>;
  key?: string;
  /** The body is sent as JSON unless it is text or bytes. */
  body?: unknown;
  params?: Record<string, string>;
  address?: string;
  signal?: AbortSignal;
};

/** A random address, so that tests do not share an anonymous limit. */
export function ownAddress(): string {
  return `10.${[...randomBytes(3)].join(".")}`;
}

/** A request as a transport passes it to the API kernel. */
export function incoming(asked: Asked = {}): Incoming {
  const { body, key } = asked;
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const bytes = body === undefined ? null : Buffer.from(isRaw ? body : JSON.stringify(body));
  const headers: Record<string, string | undefined> = {
    ...(bytes ? { "content-type": "application/json", "content-length": String(bytes.length) } : {}),
    ...(key ? { authorization: `Bearer ${key}` } : {}),
    ...asked.headers,
  };
  return {
    method: asked.method ?? (bytes ? "POST" : "GET"),
    path: asked.path ?? "/v1/test",
    query: new URLSearchParams(asked.query),
    header: (name) => headers[name],
    lines: (name) => (headers[name] === undefined ? [] : [headers[name]]),
    body: bytes && inPieces(bytes),
    params: asked.params ?? {},
    address: asked.address ?? ownAddress(),
    signal: asked.signal ?? new AbortController().signal,
  };
}

async function* inPieces(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384);
}

/** The parsed JSON of a response. Throws if its body is no text. */
export function jsonOf(outgoing: Outgoing) {
  if (typeof outgoing.body !== "string") throw new Error("the answer is not JSON text");
  return JSON.parse(outgoing.body);
}

/** The text of a response without the request's id, which errors repeat. */
export const withoutRequestId = (text: string): string => text.replace(/"requestId":"[^"]+"/, "");
