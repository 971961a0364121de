import type { Endpoint } from "@/server/api/endpoint";
import * as adapterAliases from "./adapter-aliases";
import * as adapterWeights from "./adapter-weights";
import * as adapters from "./adapters";
import * as auditLog from "./audit-log";
import * as auth from "./auth";
import * as billing from "./billing";
import * as budgets from "./budgets";
import * as capabilities from "./capabilities";
import * as capabilityDocuments from "./capability-documents";
import * as comparisons from "./comparisons";
import * as connections from "./connections";
import * as credentials from "./credentials";
import * as diagnostics from "./diagnostics";
import * as embeds from "./embeds";
import * as inputs from "./inputs";
import * as jobs from "./jobs";
import * as keys from "./keys";
import * as openai from "./openai";
import * as openaiMedia from "./openai-media";
import * as organizations from "./organizations";
import * as bulks from "./pinned-bulks";
import * as pins from "./pins";
import * as provenance from "./provenance";
import * as requests from "./requests";
import * as session from "./session";
import * as usage from "./usage";
import * as webhooks from "./webhooks";

const nouns = [
  capabilities,
  capabilityDocuments,
  inputs,
  jobs,
  adapters,
  adapterAliases,
  comparisons,
  adapterWeights,
  pins,
  bulks,
  provenance,
  requests,
  webhooks,
  usage,
  budgets,
  credentials,
  connections,
  diagnostics,
  organizations,
  auditLog,
  keys,
  embeds,
  session,
  auth,
  billing,
  openai,
  openaiMedia,
];

/**
 * Every endpoint of the public API, without MCP: the router serves them, OpenAPI describes them, and the laws check
 * them. Sorted by name within a noun, because bundlers and test runners disagree about the order of a module's exports,
 * and the order is published.
 */
export const endpoints: Endpoint[] = nouns.flatMap((noun) =>
  Object.entries<Endpoint>(noun)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, endpoint]) => endpoint),
);
