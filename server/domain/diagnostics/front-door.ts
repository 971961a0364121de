import { allCapabilities } from "@/server/domain/catalog";
import type { Json } from "@/server/platform/durable/step";
import { publicUrl } from "@/server/platform/settings/env";
import { VERSION } from "@/server/platform/settings/version";

const DOCUMENTS = {
  openapi: "/openapi.json",
  docs: "/docs",
  guides: "/docs/index.md",
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

/** The page that agents need first, as Markdown. */
const FIRST_TASKS = "/docs/start/first-tasks.md";

/** The answer of `/` to programs: where to go first, in under 1 KB. */
export function index(): Record<string, Json> {
  const { openapi, guides, agentContext, mcp, llms } = DOCUMENTS;
  return {
    name: "Capstan",
    version: VERSION,
    what: "Runs AI capabilities on any provider, with quotes, budgets, durable jobs and signed receipts.",
    authentication: "Authorization: Bearer <API_KEY>",
    steps: [
      "GET /v1/capabilities?view=summary",
      "GET /v1/capabilities/{key}?view=brief",
      "POST /v1/capabilities/{key}/invoke or /jobs",
      "GET /v1/jobs/{jobId}?waitSeconds=30",
      "GET /v1/jobs/{jobId}/receipt",
    ],
    youPay: "charge.chargedMicros of a result or job",
    documents: {
      firstTasks: FIRST_TASKS,
      llms,
      guides,
      openapi,
      agentContext: `${agentContext}?profile=compact`,
      mcp,
    },
  };
}

/** The entry points for language models, in Markdown: `/llms.txt` as llmstxt.org describes it. */
export function llmsText(): string {
  const link = (title: string, path: string, what: string) => `- [${title}](${at(path)}): ${what}`;
  const capabilities = allCapabilities.map(({ key, title, modes }) =>
    link(key, `/v1/capabilities/${key}?view=brief`, `${title} (${modes.join(", ")})`),
  );
  return `# Capstan

> An execution control plane: discover a capability, get a quote, run it synchronously, as a stream or as a durable job on
> any provider, and receive artifacts and a signed receipt. Budgets are enforced; a request is never sent twice.

Send \`Authorization: Bearer <API_KEY>\` and JSON. Send an idempotency key with every request that runs something, and repeat a
request with the same key. \`charge.chargedMicros\` of a result or job is what you pay. Only people can pay; jobs are approved by people and by
keys with approvals:write; people and management keys connect accounts and set budgets.

## Read first

${[
  link(
    "Context for agents",
    `${DOCUMENTS.agentContext}?profile=compact`,
    "how to find, run and wait for capabilities, as JSON",
  ),
  link("Ten first tasks", FIRST_TASKS, "one request for each task, ready to be sent"),
  link("Summary", `${DOCUMENTS.capabilities}?view=summary`, "every capability in a line, as JSON"),
  link("Guides", DOCUMENTS.guides, "every page of the documentation, as Markdown"),
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

Each link has the input schema, limits, price and a request for each mode, in under 4 KB. With \`/openapi.json\` in place of
\`?view=brief\` it is an OpenAPI document of this capability alone; without either, the whole descriptor.

${capabilities.join("\n")}

## Optional

${link("Signing keys", DOCUMENTS.jwks, "to verify receipts offline")}
`;
}
