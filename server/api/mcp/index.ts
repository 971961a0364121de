import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ListToolsResult,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Ctx } from "@/server/domain/ctx";
import { publicUrl } from "@/server/env";
import { fail } from "@/server/errors";
import { newId } from "@/server/ids";
import { VERSION } from "@/server/version";
import { endpoint, type Incoming, type Outgoing, raw } from "../endpoint";
import { router } from "../router";
import { callTool, tools } from "./call";
import { cancelCall, openCall } from "./cancel";

/*
 * MCP over streamable HTTP, without state: each POST is a whole exchange with a server of its own, so any web process
 * answers any request of a client, and a key that is revoked is refused at its next. Progress goes out on the answer of the
 * call it belongs to. The session's id is made up and given back by the client; nothing is kept under it but the calls
 * that run in this process, so that a cancellation finds the one it means.
 */

const MEGABYTE = 1024 * 1024;
const INSTRUCTIONS =
  "Find a capability with resolve_capability, read its input with describe_capability, price it with quote_capability. Short work: invoke. Longer work: submit_job, then wait_job until its status is terminal. Give idempotency_key so that a repeated call runs nothing twice. No tool pays: links to pay are for people.";

function serverFor(ctx: Ctx, session: string): Server {
  const server = new Server(
    { name: "capstan", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ listed }) => listed) as ListToolsResult["tools"], // made by `tool`
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
          const told = { progressToken, progress, message, ...(total === null ? {} : { total }) };
          await extra.sendNotification({ method: "notifications/progress", params: told });
        },
      });
      return result as CallToolResult;
    } finally {
      call.close();
    }
  });
  return server;
}

/** A page of somebody else's that found its way here through a name of its own is not served (DNS rebinding). */
function refuseOtherOrigins(incoming: Incoming): void {
  const origin = incoming.header("origin");
  if (origin !== undefined && origin !== new URL(publicUrl).origin)
    fail("CrossSiteRequest", "A browser may ask this from our own pages only.");
}

const HEADERS = ["accept", "content-type", "mcp-protocol-version", "last-event-id"];
const SESSION = /^mcp_[0-9a-z]{26}$/;

export const mcp = endpoint({
  method: "POST",
  path: "/mcp",
  summary: "The Model Context Protocol over streamable HTTP",
  auth: ["service_principal"],
  body: z.looseObject({ method: z.string().optional() }),
  bodyLimit: 32 * MEGABYTE,
  output: raw("application/json"),
  errors: [],
  async run(ctx, { body, incoming }): Promise<Outgoing> {
    refuseOtherOrigins(incoming);
    const { method } = body;
    const given = incoming.header("mcp-session-id") ?? "";
    // Whose calls a session can reach is the key's own affair: its id stands before.
    const id = SESSION.test(given) && method !== "initialize" ? given : `mcp_${newId("request").slice(4)}`;
    const session = `${ctx.principal.id} ${id}`;
    if (method === "notifications/cancelled") cancelCall(session, body.params);
    const server = serverFor(ctx, session);
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    const headers = new Headers();
    for (const name of HEADERS) {
      const value = incoming.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const request = new Request(new URL("/mcp", publicUrl), { method: "POST", headers });
    const answer = await transport.handleRequest(request, { parsedBody: body });
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

/** The answer, and then the end of the server it came from, also where nobody reads it to its end. */
async function* closing(body: ReadableStream<Uint8Array>, server: Server): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } finally {
    await server.close();
  }
}

/** Answers POST; there is no stream to open with GET, and no session to end with DELETE. */
export const mcpRoute = router([mcp]);
