import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";

/* The official SDK's client, over HTTP, against running servers. */

export const TEXT = "text.general.fast.v1";
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
export const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};

export let tenant: Tenant;
export let theirs: Tenant;
export let server: WebServer;
export let other: WebServer;
export let client: Client;
const clients: Client[] = [];

export async function connect(
  key: string,
  more: { fetch?: typeof fetch; url?: string; path?: string } = {},
): Promise<Client> {
  const made = new Client({ name: "test", version: "1" });
  const { url = server.url, path = "/mcp", ...options } = more;
  await made.connect(
    new StreamableHTTPClientTransport(new URL(path, url), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      ...options,
    }),
  );
  clients.push(made);
  return made;
}

export async function openServers(): Promise<void> {
  [tenant, theirs] = [await makeTenant(), await makeTenant()];
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  other = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  client = await connect(tenant.key);
  await client.listTools(); // so that the client checks every result against the tool's output schema
}

export async function closeServers(): Promise<void> {
  for (const each of clients) await each.close();
  await Promise.all([server.stop(500), other.stop(500)]);
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
export type Body = any;

export async function raw(name: string, args: object = {}, by = client): Promise<CallToolResult> {
  return (await by.callTool({ name, arguments: { ...args } })) as CallToolResult;
}

/** A tool's result; fails if the tool returns an error. */
export async function use(name: string, args: object = {}, by = client): Promise<Body> {
  const result = await raw(name, args, by);
  const [first] = result.content;
  expect(result.isError, first?.type === "text" ? first.text : "").toBeUndefined();
  if (first?.type === "text") expect(JSON.parse(first.text)).toEqual(result.structuredContent);
  return result.structuredContent;
}

/** The error that a tool returns. */
export async function refused(name: string, args: object = {}, by = client): Promise<Body> {
  const result = await raw(name, args, by);
  expect(result.isError).toBe(true);
  const [first] = result.content;
  if (first?.type !== "text") throw new Error("a refusal is text");
  expect(first.text).not.toMatch(/\bat [\w.<]+ \(|node_modules|\/server\//); // no stack
  return JSON.parse(first.text);
}

export const submit = (key = TEXT, request: object = { input }, by = client) =>
  use("submit_job", { capability_key: key, request }, by);
