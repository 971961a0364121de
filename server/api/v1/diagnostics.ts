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
  summary: "Read what this key is and which build answers it",
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
  summary: "Read which providers can be reached, and what would pay",
  description:
    "`imageProviderReady` says that an account reaches an image model, `imageGenerationReady` that the caller could generate an image now. Customer-visible credit, what is left of the trial, and what can be spent are three figures, in US dollars.",
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
  summary: "Read whether a project could work now, and what is missing",
  description:
    "`capabilities`, repeated, asks for the access decision of each; a key of the catalog that does not exist is answered with the nearest ones.",
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
  summary: "Read what an agent has to know before its first call",
  description:
    "`compact` is enough to find and run a capability; `integration` adds what programs need; `full` is everything. `contentHash` is also the answer's ETag.",
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
