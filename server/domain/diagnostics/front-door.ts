import { allCapabilities } from "@/server/domain/catalog";
import { publicUrl } from "@/server/env";
import type { Json } from "@/server/step";
import { VERSION } from "@/server/version";

const DOCUMENTS = {
  openapi: "/openapi.json",
  docs: "/docs",
  agentContext: "/v1/agent-context",
  capabilities: "/v1/capabilities",
  mcp: "/mcp",
  jwks: "/.well-known/jwks.json",
  llms: "/llms.txt",
  health: "/healthz",
} as const;
const at = (path: string) => `${publicUrl}${path}`;

/** The entry points of this installation, for programs that know only its address: `/.well-known/capstan.json`. */
export function manifest(): Record<string, Json> {
  return {
    name: "Capstan",
    version: VERSION,
    apiBase: at("/v1"),
    authentication: { scheme: "bearer", keyForm: "cap_<environment>_…" },
    mcp: { url: at(DOCUMENTS.mcp), transport: "streamable-http" },
    openaiCompatible: { baseUrl: at("/v1") },
    documents: Object.fromEntries(Object.entries(DOCUMENTS).map(([name, path]) => [name, at(path)])),
  };
}

/** The same for language models, in Markdown: `/llms.txt` as llmstxt.org describes it. */
export function llmsText(): string {
  const link = (title: string, path: string, what: string) => `- [${title}](${at(path)}): ${what}`;
  const capabilities = allCapabilities.map(({ key, title, modes }) =>
    link(key, `/v1/capabilities/${key}`, `${title} (${modes.join(", ")})`),
  );
  return `# Capstan

> An execution control plane: discover a capability, get a quote, run it synchronously, as a stream or as a durable job on
> any provider, and receive artifacts and a signed receipt. Budgets are enforced; a request is never sent twice.

Send \`Authorization: Bearer <API_KEY>\` and JSON. Send an idempotency key with every request that runs something, and repeat a
request with the same key. Only people can approve jobs, connect accounts and pay.

## Read first

${[
  link(
    "Context for agents",
    `${DOCUMENTS.agentContext}?profile=compact`,
    "how to find, run and wait for capabilities, as JSON",
  ),
  link("OpenAPI", DOCUMENTS.openapi, "every endpoint"),
  link("Reference", DOCUMENTS.docs, "the same, for people"),
].join("\n")}

## Interfaces

${[
  link("MCP", DOCUMENTS.mcp, "Model Context Protocol over streamable HTTP, with an API key as bearer token"),
  link(
    "OpenAI-compatible",
    "/v1/models",
    "chat completions and responses; use a capability key as the model",
  ),
].join("\n")}

From a program or a shell, use the package \`@capstan/client\` (TypeScript, for Node and browsers) and its command \`capstan\`. Set
\`CAPSTAN_BASE_URL=${publicUrl}\` and \`CAPSTAN_API_KEY\`; \`capstan doctor\` checks the setup.

## Capabilities

${capabilities.join("\n")}

## Optional

${link("Signing keys", DOCUMENTS.jwks, "to verify receipts offline")}
`;
}
