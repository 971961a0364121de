import type { Endpoint } from "@/server/api/endpoint";
import * as adapterAliases from "./adapter-aliases";
import * as adapterWeights from "./adapter-weights";
import * as adapters from "./adapters";
import * as auditLog from "./audit-log";
import * as auth from "./auth";
import * as billing from "./billing";
import * as budgets from "./budgets";
import * as capabilities from "./capabilities";
import * as comparisons from "./comparisons";
import * as connections from "./connections";
import * as credentials from "./credentials";
import * as diagnostics from "./diagnostics";
import * as inputs from "./inputs";
import * as jobs from "./jobs";
import * as keys from "./keys";
import * as openai from "./openai";
import * as openaiMedia from "./openai-media";
import * as organizations from "./organizations";
import * as panels from "./panels";
import * as bulks from "./pinned-bulks";
import * as pins from "./pins";
import * as provenance from "./provenance";
import * as requests from "./requests";
import * as session from "./session";
import * as usage from "./usage";
import * as webhooks from "./webhooks";

/** Every endpoint of the API: the router serves these, OpenAPI describes them, and the laws check them. */
export const endpoints: Endpoint[] = [
  ...Object.values(capabilities),
  ...Object.values(inputs),
  ...Object.values(jobs),
  ...Object.values(adapters),
  ...Object.values(adapterAliases),
  ...Object.values(comparisons),
  ...Object.values(adapterWeights),
  ...Object.values(pins),
  ...Object.values(bulks),
  ...Object.values(provenance),
  ...Object.values(requests),
  ...Object.values(webhooks),
  ...Object.values(usage),
  ...Object.values(budgets),
  ...Object.values(credentials),
  ...Object.values(connections),
  ...Object.values(diagnostics),
  ...Object.values(organizations),
  ...Object.values(auditLog),
  ...Object.values(keys),
  ...Object.values(panels),
  ...Object.values(session),
  ...Object.values(auth),
  ...Object.values(billing),
  ...Object.values(openai),
  ...Object.values(openaiMedia),
];
