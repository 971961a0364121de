import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Row, versionOf, type World } from "../world";

/* The client of the MCP SDK, which checks every result against the tool's output schema. */

export async function rows(world: World): Promise<Row[]> {
  const client = new Client({ name: "outside", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", world.baseUrl), {
      requestInit: { headers: { authorization: `Bearer ${world.apiKey}` } },
    }),
  );

  /** A tool's result. */
  async function use(name: string, args: object, onprogress?: () => void) {
    const params = { name, arguments: { ...args } };
    const result = await client.callTool(params, CallToolResultSchema, onprogress ? { onprogress } : {});
    const { isError, content, structuredContent } = CallToolResultSchema.parse(result);
    const [first] = content;
    return { isError, text: first?.type === "text" ? first.text : "", found: structuredContent ?? {} };
  }

  const request = { input: { messages: [{ role: "user", content: "Tell me of lighthouses." }] } };
  const TEXT = "text.general.fast.v1";
  return [
    {
      client: "@modelcontextprotocol/sdk",
      version: versionOf("@modelcontextprotocol/sdk"),
      door: "mcp",
      checks: {
        async tools() {
          const { tools } = await client.listTools();
          assert.ok(tools.length > 20);
          assert.ok(tools.every(({ description, outputSchema }) => description && outputSchema));
        },
        async resolve() {
          const { found } = await use("resolve_capability", { intent: "draw a picture of a lighthouse" });
          assert.match(JSON.stringify(found), /image\.generate\.v1/);
        },
        async invoke() {
          const { found } = await use("invoke", { capability_key: TEXT, request });
          assert.match(JSON.stringify(found), /lighthouses/);
        },
        async "the same key is one execution"() {
          const args = { capability_key: TEXT, request, idempotency_key: `outside-${Date.now()}` };
          const before = world.executions();
          const [first, second] = [await use("invoke", args), await use("invoke", args)];
          assert.deepEqual(first.found, second.found);
          assert.equal(world.executions() - before, 1);
        },
        async "job, wait and receipt"() {
          const { found } = await use("submit_job", { capability_key: TEXT, request });
          // A job that has already ended has no progress to report.
          const ended = await use("wait_job", { job_id: found.jobId }, () => {});
          assert.match(JSON.stringify(ended.found), /"status":"succeeded"/);
          const { found: receipt } = await use("get_receipt", { job_id: found.jobId });
          assert.match(JSON.stringify(receipt), /rcpt_/);
        },
        async refusal() {
          const { isError, text } = await use("invoke", { capability_key: "text.none.v1", request });
          assert.equal(isError, true);
          assert.equal(JSON.parse(text).code, "UNKNOWN_CAPABILITY");
        },
      },
    },
  ];
}
