import { bytes, endpoint } from "@/server/api/endpoint";
import { isKnown } from "@/server/api/known";
import {
  AgentContext,
  AgentContextQuery,
  DiagnosticsQuery,
  ProviderDiagnostics,
  Readiness,
  ReadinessQuery,
  SessionDiagnostics,
} from "@/server/contract/diagnostics";
import * as diagnostics from "@/server/domain/diagnostics";

const tags = ["Diagnostics"];
const keys = ["service_principal"] as const;

export const getSessionDiagnostics = endpoint({
  method: "GET",
  path: "/v1/diagnostics/session",
  summary: "Retrieve the calling key and the server's build",
  tags,
  auth: keys,
  scope: "diagnostics:read",
  output: SessionDiagnostics,
  errors: [],
  run: (ctx) => diagnostics.session(ctx),
});

export const getProviderDiagnostics = endpoint({
  method: "GET",
  path: "/v1/diagnostics/providers",
  summary: "Retrieve which providers can be reached and what would pay",
  description:
    "`imageProviderReady` means that an account reaches an image model; `imageGenerationReady` means that the caller could generate an image now. The customer-visible credit, the remaining trial and the spendable amount are separate figures, in US dollars.",
  tags,
  auth: keys,
  scope: "diagnostics:read",
  query: DiagnosticsQuery,
  output: ProviderDiagnostics,
  errors: [],
  run: (ctx, { query }) => diagnostics.providerDiagnostics(ctx, query),
});

export const getReadiness = endpoint({
  method: "GET",
  path: "/v1/diagnostics/readiness",
  summary: "Check whether a project is ready to run, and what is missing",
  description:
    "Repeat `capabilities` to get the access decision for each. An unknown capability key is answered with the nearest matches.",
  tags,
  auth: keys,
  scope: "diagnostics:read",
  query: ReadinessQuery,
  output: Readiness,
  errors: [],
  run: (ctx, { query }) => diagnostics.readiness(ctx, query),
});

export const getAgentContext = endpoint({
  method: "GET",
  path: "/v1/agent-context",
  summary: "Retrieve the agent context",
  description:
    "What an agent needs to know before its first call. `compact` is enough to find and run a capability, `integration` adds what programs need, and `full` contains everything. `contentHash` is also the ETag of the response.",
  tags,
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  query: AgentContextQuery,
  output: AgentContext,
  partly: [304],
  errors: [],
  run: async (_, { query, incoming }) => {
    const document = diagnostics.agentContext(query.profile);
    const etag = `"${document.contentHash}"`;
    const headers = { etag, "cache-control": "public, max-age=60" };
    if (isKnown(incoming, etag)) return bytes({ status: 304, headers });
    return bytes({
      headers: { ...headers, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(document)),
    });
  },
});
