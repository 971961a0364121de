import { endpoint } from "@/server/api/endpoint";
import { CapabilityRef } from "@/server/contract/capabilities";
import {
  Comparison,
  ComparisonCreateRequest,
  ComparisonEstimate,
  ComparisonEstimateRequest,
  ComparisonRef,
  CompetitorOptions,
  JudgementRequest,
} from "@/server/contract/comparisons";
import { QuoteQuery } from "@/server/contract/envelope";
import * as comparisons from "@/server/domain/comparisons";
import type { ErrorCode } from "@/server/errors";
import { PLANNING } from "./planning";

const tags = ["Comparisons"];
const MEGABYTE = 1024 * 1024;

/** Errors of an envelope that a comparison's own body cannot cause. */
const OF_ENVELOPES: ErrorCode[] = [
  "UNKNOWN_EXECUTION_FIELD",
  "CONFLICTING_EXECUTION_CONSTRAINT",
  "ESTIMATE_MISMATCH",
  "BudgetExceeded",
];
const PLANNING_TOGETHER: ErrorCode[] = [
  ...PLANNING.filter((code) => !OF_ENVELOPES.includes(code)),
  "USE_INVOKE",
];

export const createComparison = endpoint({
  method: "POST",
  path: "/v1/capabilities/{capability_key}/comparisons",
  summary: "Create a blind comparison of two to four models",
  tags,
  auth: ["service_principal"],
  scope: "capabilities:run",
  params: CapabilityRef,
  body: ComparisonCreateRequest,
  bodyLimit: 32 * MEGABYTE,
  output: Comparison,
  envelopeErrors: true,
  errors: [
    ...PLANNING_TOGETHER,
    "BudgetExceeded",
    "funding_required",
    "EXTERNAL_ACTIONS_DISABLED",
    "IdempotencyConflict",
    "DURABLE_CONCURRENCY_LIMIT",
  ],
  idempotent: true,
  run: (ctx, { params, body, idempotencyKey }) =>
    comparisons.create(ctx, params.capability_key, body, idempotencyKey),
});

export const estimateComparison = endpoint({
  method: "POST",
  path: "/v1/capabilities/{capability_key}/comparisons/estimate",
  summary: "Price a comparison, without creating a quote",
  tags,
  auth: ["service_principal"],
  scope: "capabilities:run",
  params: CapabilityRef,
  query: QuoteQuery,
  body: ComparisonEstimateRequest,
  bodyLimit: 32 * MEGABYTE,
  output: ComparisonEstimate,
  errors: PLANNING_TOGETHER,
  run: (ctx, { params, query, body }) =>
    comparisons.estimate(ctx, params.capability_key, body, query.projectId),
});

export const listCompetitorOptions = endpoint({
  method: "GET",
  path: "/v1/capabilities/{capability_key}/comparisons/competitor-options",
  summary: "List the models that can compete in a capability",
  tags,
  auth: ["service_principal"],
  scope: "capabilities:run",
  params: CapabilityRef,
  query: QuoteQuery,
  output: CompetitorOptions,
  errors: ["UNKNOWN_CAPABILITY", "PROJECT_REQUIRED"],
  run: (ctx, { params, query }) => comparisons.options(ctx, params.capability_key, query.projectId),
});

export const getComparison = endpoint({
  method: "GET",
  path: "/v1/comparisons/{comparison_id}",
  summary: "Retrieve a comparison; its models are revealed once it is judged",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "jobs:read",
  params: ComparisonRef,
  output: Comparison,
  errors: ["NotFound"],
  run: (ctx, { params }) => comparisons.get(ctx, params.comparison_id),
});

export const judgeComparison = endpoint({
  method: "POST",
  path: "/v1/comparisons/{comparison_id}/judgements",
  summary: "Judge a comparison, once; this reveals its models",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "jobs:write",
  params: ComparisonRef,
  body: JudgementRequest,
  output: Comparison,
  errors: ["NotFound", "JobNotFinished", "ComparisonJudged"],
  run: (ctx, { params, body }) => comparisons.judge(ctx, params.comparison_id, body),
});
