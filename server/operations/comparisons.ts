import { InProject } from "@/server/contract/common";
import {
  Comparison,
  ComparisonCreateRequest,
  ComparisonEstimate,
  ComparisonEstimateRequest,
  CompetitorOptions,
  JudgementRequest,
} from "@/server/contract/comparisons";
import * as comparisons from "@/server/domain/comparisons";
import type { ErrorCode } from "@/server/platform/errors/errors";
import { byKeys, byKeysAndPeople, operations } from "./define";
import { PLANNING } from "./planning";

const run = operations("Comparisons", byKeys("capabilities:run"));
const read = operations("Comparisons", byKeysAndPeople("jobs:read"));
const write = operations("Comparisons", byKeysAndPeople("jobs:write"));

const MEGABYTE = 1024 * 1024;

/** Planning errors that only members of an execution envelope cause; a comparison's body has none of these members. */
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

export const createComparison = run.post("/v1/capabilities/{capability_key}/comparisons", {
  summary: "Create a blind comparison of two to four models",
  body: ComparisonCreateRequest,
  example: {
    context: {},
    competitors: [
      { axis: "provider", providerPin: "sandbox/sandbox-1" },
      { axis: "provider", providerPin: "sandbox/sandbox-2" },
    ],
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  },
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
  run: (ctx, { capability_key, body, idempotencyKey }) =>
    comparisons.create(ctx, capability_key, body, idempotencyKey),
});

export const estimateComparison = run.post("/v1/capabilities/{capability_key}/comparisons/estimate", {
  summary: "Price a comparison, without creating a quote",
  query: InProject,
  body: ComparisonEstimateRequest,
  example: {
    competitors: [
      { axis: "provider", providerPin: "sandbox/sandbox-1" },
      { axis: "provider", providerPin: "sandbox/sandbox-2" },
    ],
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  },
  bodyLimit: 32 * MEGABYTE,
  output: ComparisonEstimate,
  errors: PLANNING_TOGETHER,
  run: (ctx, { capability_key, query, body }) =>
    comparisons.estimate(ctx, capability_key, body, query.projectId),
});

export const listCompetitorOptions = run.get(
  "/v1/capabilities/{capability_key}/comparisons/competitor-options",
  {
    summary: "List the models that can compete in a capability",
    query: InProject,
    output: CompetitorOptions,
    errors: ["PROJECT_REQUIRED"],
    run: (ctx, { capability_key, query }) => comparisons.options(ctx, capability_key, query.projectId),
  },
);

export const getComparison = read.get("/v1/comparisons/{comparison_id}", {
  summary: "Retrieve a comparison; its models are revealed once it is judged",
  output: Comparison,
  run: (ctx, { comparison_id }) => comparisons.get(ctx, comparison_id),
});

export const judgeComparison = write.post("/v1/comparisons/{comparison_id}/judgements", {
  summary: "Judge a comparison, once; this reveals its models",
  body: JudgementRequest,
  example: { decision: "winner", overallWinnerEntryId: "cent_01jd0000000000000000000000" },
  output: Comparison,
  errors: ["JobNotFinished", "ComparisonJudged"],
  run: (ctx, { comparison_id, body }) => comparisons.judge(ctx, comparison_id, body),
});
