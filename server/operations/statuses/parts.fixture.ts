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
 * Each endpoint belongs to one part, and `<part>.db.test.ts` has a case for each status and code that the endpoint can
 * return. A new endpoint of a module below joins that module's part automatically; a new module must be listed here.
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

/** A status that an endpoint can return, or one of the codes that it declares. */
type AnswerKind = number | ErrorCode;

/** Cases that one test checks for endpoints of several parts; they belong to the part of that test. */
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

/** The status of a repeatable request that does not succeed: without a payment provider, or after it was done once. */
const ENDS: Record<string, number> = {
  "/v1/billing/checkout-session": 402,
  "/v1/billing/portal-session": 402,
  "/v1/billing/holds/{hold_id}/resolve": 409,
  "/v1/auth/device/token": 428,
  "/v1/auth/sessions/{session_id}": 404,
  "/v1/panel/launch-codes/exchange": 410,
};
/** The status of a sample request: its endpoint's success status, unless ENDS has another. */
export const good = (endpoint: Endpoint) => ENDS[endpoint.path] ?? endpoint.status ?? 200;

/** Codes that no request of these tests can cause, with the reason. */
const OUT_OF_REACH: Partial<Record<ErrorCode, string>> = {
  InternalFailure: "what no one expected; the kernel's own tests throw it",
  EstimateUnavailable: "every listed model has a price for every request its capability accepts",
  InvalidInput: "no capability refuses an input that its schema accepted",
};

/** OpenAI's requests cannot set a time limit, and the capabilities' own limits are a minute and more. */
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

/** All statuses and codes of an endpoint that tests can cause. */
export const answersOf = (endpoint: Endpoint): AnswerKind[] => [
  ...statusesOf(endpoint),
  ...endpoint.errors.filter((code) => !(code in OUT_OF_REACH) && !isTimeLimit(endpoint, code)),
];

/** The cases that a part must have, by name. */
export const casesOf = (part: Part): string[] =>
  endpoints.flatMap((endpoint) =>
    answersOf(endpoint)
      .filter((answer) => partOf(endpoint, answer) === part)
      .map((answer) => `${nameOf(endpoint)} ${answer}`),
  );
