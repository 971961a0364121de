import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { publicUrl } from "@/server/platform/settings/env";
import { VERSION } from "@/server/platform/settings/version";
import { EVENT_STREAM } from "../answers/event-stream";
import { endpoint, type Incoming, type Outgoing, raw } from "../endpoint";
import { router } from "../router";
import { callTool, tools } from "./call";
import { cancelCall, openCall } from "./cancel";
import { withoutNulls } from "./schemas";

/*
 * Stateless: each POST has its own server, so any web process answers and a revoked key is rejected at once. The client
 * sends the session id back; each process stores the calls that it runs under that id, so that they can be canceled.
 */

const MEGABYTE = 1024 * 1024;
const INSTRUCTIONS =
  "Find a capability with resolve_capability, read its input schema with describe_capability, and price a request with quote_capability. For short work use invoke. For longer work use submit_job, then call wait_job until the status is terminal. Send an idempotency_key so that a repeated call runs nothing twice. No tool can pay; show payment links to a person.";

function serverFor(ctx: Ctx, session: string, isStrict: boolean): Server {
  const server = new Server(
    { name: "capstan", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ listed, strictlyListed }) =>
      isStrict ? strictlyListed : listed,
    ) as ListToolsResult["tools"], // made by `tool`
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const call = openCall(session, String(extra.requestId));
    const signals = [call.signal, extra.signal, ...(ctx.signal ? [ctx.signal()] : [])];
    const { progressToken } = params._meta ?? {};
    try {
      const result = await callTool(ctx, params.name, params.arguments, {
        signal: AbortSignal.any(signals),
        async progress(progress, total, message) {
          if (progressToken === undefined) return;
          const report = { progressToken, progress, message, ...(total === null ? {} : { total }) };
          await extra.sendNotification({ method: "notifications/progress", params: report });
        },
      });
      return result;
    } finally {
      call.close();
    }
  });
  return server;
}

/** Refuses pages of other origins, which could reach this server through DNS rebinding. */
function refuseOtherOrigins(incoming: Incoming): void {
  const origin = incoming.header("origin");
  if (origin !== undefined && origin !== new URL(publicUrl).origin)
    fail("CrossSiteRequest", "A browser may call this only from this installation's own pages.");
}

/** The response types that the caller accepts, by name or by a range. Without an Accept header it accepts both. */
function acceptedBy(incoming: Incoming): { json: boolean; events: boolean } {
  const ranges = (incoming.header("accept") ?? "*/*")
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";").map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((each) => /^q=0(\.0*)?$/.test(each)))
    .map(([type]) => type);
  const accepts = (...types: string[]) => types.some((type) => ranges.includes(type));
  return {
    json: accepts("application/json", "application/*", "*/*"),
    events: accepts(EVENT_STREAM, "text/*", "*/*"),
  };
}

/** Treats parameters that are null, and null members of them, as absent. */
function withoutNullParams({ params, ...request }: Record<string, unknown>): Record<string, unknown> {
  return params === null || params === undefined ? request : { ...request, params: withoutNulls(params) };
}

/**
 * The field and message of the first error of a malformed tool call; the SDK would return its validator's whole output.
 * Null if the call is well-formed.
 */
function flawIn(message: Record<string, unknown>): string | null {
  const issue = CallToolRequestSchema.safeParse(message).error?.issues[0];
  return issue ? `${issue.path.join(".")}: ${issue.message}` : null;
}

const refusedParams = ({ id = null }: Record<string, unknown>, message: string): Outgoing => ({
  status: 200,
  headers: { "content-type": "application/json", "cache-control": "no-store" },
  body: JSON.stringify({ jsonrpc: "2.0", id, error: { code: ErrorCode.InvalidParams, message } }),
});

const HEADERS = ["accept", "content-type", "mcp-protocol-version", "last-event-id"];
const SESSION = /^mcp_[0-9a-z]{26}$/;

export const mcp = endpoint({
  method: "POST",
  path: "/mcp",
  summary: "Call the MCP server (streamable HTTP)",
  auth: ["service_principal"],
  query: z.object({
    schemas: z
      .enum(["strict"])
      .optional()
      .describe("`strict`: tools are listed with schemas of OpenAI's strict mode."),
  }),
  body: z.looseObject({ method: z.string().optional() }),
  bodyLimit: 32 * MEGABYTE,
  output: raw("application/json"),
  errors: [],
  async run(ctx, { query, body, incoming }): Promise<Outgoing> {
    refuseOtherOrigins(incoming);
    const { method } = body;
    const given = incoming.header("mcp-session-id") ?? "";
    // The prefix is the key's id, so that a session reaches only the calls of its own key.
    const id = SESSION.test(given) && method !== "initialize" ? given : `mcp_${newId("request").slice(4)}`;
    const session = `${ctx.principal.id} ${id}`;
    if (method === "notifications/cancelled") cancelCall(session, body.params);
    const message = withoutNullParams(body);
    const flaw = method === "tools/call" ? flawIn(message) : null;
    if (flaw) return refusedParams(message, flaw);
    const server = serverFor(ctx, session, query.schemas === "strict");
    const accepted = acceptedBy(incoming);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: accepted.json && !accepted.events,
    });
    await server.connect(transport);
    const headers = new Headers();
    for (const name of HEADERS) {
      const value = incoming.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    // The transport recognizes only the exact names of both types, not ranges.
    if (accepted.json || accepted.events) headers.set("accept", `application/json, ${EVENT_STREAM}`);
    const request = new Request(new URL("/mcp", publicUrl), { method: "POST", headers });
    const answer = await transport.handleRequest(request, { parsedBody: message });
    return {
      status: answer.status,
      headers: {
        ...Object.fromEntries(answer.headers),
        ...(method === "initialize" && answer.ok ? { "mcp-session-id": id } : {}),
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
      },
      body: answer.body ? closing(answer.body, server) : null,
    };
  },
});

/** Yields the response and then closes its server, even if the response is not read to its end. */
async function* closing(body: ReadableStream<Uint8Array>, server: Server): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } finally {
    await server.close();
  }
}

/** Serves POST only: there is no stream to open with GET, and no session to end with DELETE. */
export const mcpRoute = router([mcp]);
