import { setTimeout as sleep } from "node:timers/promises";
import type { CanaryHouse } from "./house";
import type { Secret, Text } from "./sweep";

export type Ask = { key?: string; cookie?: string; body?: unknown; headers?: Record<string, string> };

export type Visit = Awaited<ReturnType<typeof beginVisit>>;

/**
 * A client of an installation that records every secret it sends or receives, every response, and every entry point that it
 * used.
 */
export async function beginVisit(house: CanaryHouse) {
  const { endpoints } = await import("@/server/operations");
  const { pool } = await import("@/server/platform/db");
  const secrets: Secret[] = [...house.secrets];
  const answers: Text[] = [];
  /** Every entry point that accepted a request. */
  const passed = new Set<string>();

  const doors = endpoints.map(({ method, path }) => ({
    method,
    name: `${method} ${path}`,
    // A literal path segment beats a parameter at the same place.
    rank: path.split("{").length,
    form: new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const nameOf = (method: string, path: string) =>
    doors.filter((door) => door.method === method && door.form.test(path)).sort((a, b) => a.rank - b.rank)[0]
      ?.name ?? `${method} ${path}`;

  function keep(name: string, value: unknown): string {
    if (typeof value !== "string") throw new Error(`${name} is not there`);
    if (!secrets.some((secret) => secret.value === value)) secrets.push({ name, value });
    return value;
  }

  const hear = (where: string, text: string) => void answers.push({ where, text });

  /** Sends a request to the web process, and keeps the response with its headers. */
  async function ask(method: string, target: string, { key, cookie, body, headers }: Ask = {}) {
    const isBytes = body instanceof Uint8Array;
    const answer = await fetch(new URL(target, house.url), {
      method,
      headers: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(cookie ? { cookie, origin: "http://localhost:3000" } : {}),
        ...(body === undefined && !cookie ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || isBytes ? (body as string) : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const name = nameOf(method, new URL(target, house.url).pathname);
    hear(`answer ${name}`, `${JSON.stringify([...answer.headers])}\n${text}`);
    if (answer.ok) passed.add(name);
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    let json: any;
    try {
      json = JSON.parse(text);
    } catch {
      // the body is not JSON
    }
    return { status: answer.status, text, json };
  }

  /** Sends a request that must succeed. */
  async function must(method: string, target: string, asked: Ask = {}) {
    const answer = await ask(method, target, asked);
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  /** Calls a procedure as the panel's pages do. */
  const procedure = (path: string, input: unknown, more: Ask = {}) =>
    ask("POST", `/api/trpc/${path}`, {
      headers: { "sec-fetch-site": "same-origin", origin: house.url },
      body: input as object,
      ...more,
    });
  async function mustDo(path: string, input: unknown, cookie?: string) {
    const { status, text, json } = await procedure(path, input, { cookie });
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return json.result.data;
  }

  /** Calls an MCP tool. */
  const tool = (key: string, name: string, args: object) =>
    ask("POST", "/mcp", {
      key,
      headers: { accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    });

  /** Waits until `isDone`, and fails after `mostMs`. */
  async function until(isDone: () => Promise<boolean>, what: string, mostMs = 45_000): Promise<void> {
    const end = Date.now() + mostMs;
    while (!(await isDone())) {
      if (Date.now() > end) throw new Error(`in vain waited for ${what}`);
      await sleep(100);
    }
  }

  return { house, pool, secrets, answers, passed, keep, hear, ask, must, procedure, mustDo, tool, until };
}
