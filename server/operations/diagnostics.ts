import { FOR_A_MINUTE, published } from "@/server/api/answers/published";
import { keyLimit } from "@/server/api/rate-limit";
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
import { byAnybody, byKeys, operations } from "./define";

const read = operations("Diagnostics", byKeys("diagnostics:read"));
const open = operations("Diagnostics", byAnybody);

export const getSessionDiagnostics = read.get("/v1/diagnostics/session", {
  summary: "Retrieve the calling key, what is left of its limits, and the server's build",
  output: SessionDiagnostics,
  run: async (ctx) => ({
    ...(await diagnostics.session(ctx)),
    rateLimit: keyLimit.standing(ctx.principal.id),
  }),
});

export const getProviderDiagnostics = read.get("/v1/diagnostics/providers", {
  summary: "Retrieve which providers can be reached and what would pay",
  description:
    "`imageProviderReady` means that an account reaches an image model; `imageGenerationReady` means that the caller could generate an image now. The customer-visible credit, the remaining trial and the spendable amount are separate figures, in US dollars.",
  query: DiagnosticsQuery,
  output: ProviderDiagnostics,
  run: (ctx, { query }) => diagnostics.providerDiagnostics(ctx, query),
});

export const getReadiness = read.get("/v1/diagnostics/readiness", {
  summary: "Check whether a project is ready to run, and what is missing",
  description:
    "Repeat `capabilities` to get the access decision for each. An unknown capability key is answered with the nearest matches.",
  query: ReadinessQuery,
  output: Readiness,
  run: (ctx, { query }) => diagnostics.readiness(ctx, query),
});

export const getAgentContext = open.get("/v1/agent-context", {
  summary: "Retrieve the agent context",
  description:
    "What an agent needs to know before its first call. `compact` is enough to find and run a capability, `integration` adds what programs need, and `full` contains everything. `contentHash` is also the ETag of the response.",
  query: AgentContextQuery,
  output: AgentContext,
  partly: [304],
  http: async (_, { query, incoming }) => {
    const document = diagnostics.agentContext(query.profile);
    const etag = `"${document.contentHash}"`;
    return published(incoming, JSON.stringify(document), { ...FOR_A_MINUTE, etag });
  },
});
