import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const transport = new StreamableHTTPClientTransport(new URL(`${process.env.CAPSTAN_URL}/mcp`), {
  requestInit: { headers: { authorization: `Bearer ${process.env.CAPSTAN_API_KEY}` } },
});

const client = new Client({ name: "my-agent", version: "1.0.0" });
await client.connect(transport);
const { structuredContent } = await client.callTool({
  name: "invoke",
  arguments: {
    capability_key: "text.general.fast.v1",
    request: { input: { messages: [{ role: "user", content: "What do I wear at 21 degrees?" }] } },
    idempotency_key: "what-to-wear-1",
  },
});
console.log(structuredContent);
await client.close();
