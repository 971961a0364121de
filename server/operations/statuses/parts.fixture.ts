import type { Endpoint } from "@/server/api/endpoint";
import { ownKeys } from "@/server/contract/own-keys";
import * as embeds from "@/server/operations/embeds";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { endpoints } from "..";
import * as adapterAliases from "../adapter-aliases";
import * as adapterWeights from "../adapter-weights";
import * as adapters from "../adapters";
import * as auditLog from "../audit-log";
import * as auth from "../auth";
import * as billing from "../billing";
import * as budgets from "../budgets";
import * as capabilities from "../capabilities";
import * as capabilityDocuments from "../capability-documents";
import * as comparisons from "../comparisons";
import * as connections from "../connections";
import * as credentials from "../credentials";
import * as diagnostics from "../diagnostics";
import * as inputs from "../inputs";
import * as jobs from "../jobs";
import * as keys from "../keys";
import * as openai from "../openai";
import * as openaiMedia from "../openai-media";
import * as organizations from "../organizations";
import * as bulks from "../pinned-bulks";
import * as pins from "../pins";
import * as provenance from "../provenance";
import * as requests from "../requests";
import * as session from "../session";
import * as usage from "../usage";
import * as webhooks from "../webhooks";

/*
 * Each endpoint is of one part, and `<part>.db.test.ts` has a case for each status and code it can answer. A new endpoint of
 * a module below is of that module's part automatically; a new module has to be named here.
 */

const { invokeCapability, submitJob, followExecution, ...planning } = capabilities;
const { uploadAdapter, ...ofAdapters } = adapters;
const {
  listJobs,
  listProjectJobs,
  listProjectReferences,
  getJobArtifact,
  selectJobVariant,
  retryJob,
  ...ofOneJob
} = jobs;
const { getKeySet, ...evidence } = provenance;

const endpointsOf = (...modules: Record<string, Endpoint>[]): Endpoint[] =>
  modules.flatMap((each) => Object.values(each));

export const PARTS = {
  adapters: endpointsOf(ofAdapters, adapterAliases),
  artifacts: endpointsOf({ getJobArtifact, selectJobVariant }),
  audit: endpointsOf(auditLog),
  billing: endpointsOf(billing, usage),
  budgets: endpointsOf(budgets),
  bulks: endpointsOf(bulks),
  capabilities: endpointsOf(planning, capabilityDocuments),
  comparisons: endpointsOf(comparisons),
  conversations: endpointsOf(openai),
  credentials: endpointsOf(credentials, connections),
  executions: endpointsOf({ invokeCapability }),
  jobs: endpointsOf(ofOneJob, { followExecution }),
  media: endpointsOf(openaiMedia),
  organizations: endpointsOf(organizations, keys),
  pinned: endpointsOf(pins, evidence),
  project: endpointsOf({ listJobs, listProjectJobs }, inputs, webhooks),
  requests: endpointsOf(requests),
  retries: endpointsOf({ retryJob }),
  sessions: endpointsOf({ getKeySet, listProjectReferences }, diagnostics, session, auth, embeds),
  submit: endpointsOf({ submitJob }),
  weights: endpointsOf({ uploadAdapter }, adapterWeights),
};
export type Part = keyof typeof PARTS;
export const partNames = ownKeys(PARTS);

/** What an endpoint can answer: a status, or one of the codes it declares. */
type AnswerKind = number | ErrorCode;

/** Where one test asks endpoints of several parts for the same: its part has the case for all of them. */
export const TOGETHER: { part: Part; answers: AnswerKind[]; of: Endpoint[] }[] = [
  {
    part: "capabilities",
    answers: [404, "UNKNOWN_CAPABILITY", "ESTIMATE_MISMATCH", "QUOTE_MISMATCH", "REESTIMATE_REQUIRED"],
    of: [invokeCapability, submitJob],
  },
  {
    part: "submit",
    answers: ["DURABLE_CONCURRENCY_LIMIT"],
    of: [retryJob, comparisons.createComparison],
  },
  { part: "adapters", answers: ["PROJECT_REQUIRED"], of: [uploadAdapter] },
  { part: "jobs", answers: [404, "NotFound"], of: [selectJobVariant, retryJob] },
  { part: "retries", answers: [409, "ComparisonUnjudged"], of: [evidence.createManifest] },
  { part: "retries", answers: ["ComparisonUnjudged"], of: [ofOneJob.getJobReceipt] },
  {
    part: "organizations",
    answers: ["EXTERNAL_ACTIONS_DISABLED"],
    of: [
      invokeCapability,
      submitJob,
      retryJob,
      comparisons.createComparison,
      pins.runPinned,
      bulks.submitPinnedBulk,
      openai.createChatCompletion,
      openai.createResponse,
    ],
  },
];

/** The part that has the case of this answer. */
export const partOf = (endpoint: Endpoint, answer: AnswerKind): Part | undefined =>
  TOGETHER.find(({ of, answers }) => of.includes(endpoint) && answers.includes(answer))?.part ??
  partNames.find((part) => PARTS[part].includes(endpoint));

export const nameOf = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path}`;

/** What ends otherwise in a request that anybody may repeat: without a payment provider, or after it was done once. */
const ENDS: Record<string, number> = {
  "/v1/billing/checkout-session": 402,
  "/v1/billing/portal-session": 402,
  "/v1/billing/holds/{hold_id}/resolve": 409,
  "/v1/auth/device/token": 428,
  "/v1/auth/sessions/{session_id}": 404,
  "/v1/panel/launch-codes/exchange": 410,
};
/** The statuses of success. */
export const good = (endpoint: Endpoint) => ENDS[endpoint.path] ?? endpoint.status ?? 200;

/** Statuses no request of these tests can bring about, with the reason. */
const OUT_OF_REACH: Partial<Record<ErrorCode, string>> = {
  InternalFailure: "what no one expected; the kernel's own tests throw it",
  EstimateUnavailable: "every listed model has a price for every request its capability accepts",
  InvalidInput: "no capability refuses an input that its schema accepted",
};

/** Of OpenAI's endpoints, which have no field for it: a limit of time is the capability's own, of a minute and more. */
const isTimeLimit = (endpoint: Endpoint, code: ErrorCode) =>
  endpoint.refusals !== undefined && code === "ExecutionTimeout";

function statusesOf(endpoint: Endpoint): number[] {
  const codes: ErrorCode[] = [...endpoint.errors, "AuthenticationFailed", "RateLimited"];
  if (!endpoint.auth.includes("anonymous")) codes.push("AuthorizationFailed");
  if (endpoint.body) codes.push("PayloadTooLarge", "UnsupportedMediaType", "InvalidInput");
  if (endpoint.params || endpoint.query) codes.push("InvalidInput");
  if (endpoint.path === "/v1/billing/checkout-session")
    return [...new Set(codes.map((code) => ERRORS[code].status))];
  const own = [good(endpoint), ...(endpoint.partly ?? [])];
  return [...new Set([...own, ...codes.map((code) => ERRORS[code].status)])];
}

/** Everything an endpoint can answer and tests can bring about. */
export const answersOf = (endpoint: Endpoint): AnswerKind[] => [
  ...statusesOf(endpoint),
  ...endpoint.errors.filter((code) => !(code in OUT_OF_REACH) && !isTimeLimit(endpoint, code)),
];

/** The cases a part has to have, by name. */
export const casesOf = (part: Part): string[] =>
  endpoints.flatMap((endpoint) =>
    answersOf(endpoint)
      .filter((answer) => partOf(endpoint, answer) === part)
      .map((answer) => `${nameOf(endpoint)} ${answer}`),
  );
