import { endpoint } from "@/server/api/endpoint";
import {
  BudgetPolicy,
  ChangeGuardrails,
  Guardrails,
  HoldPage,
  HoldPath,
  HoldView,
  ListHolds,
  OrganizationQuery,
  PutBudgetPolicy,
  ResolveHold,
} from "@/server/contract/budgets";
import { ProjectRef } from "@/server/contract/jobs";
import * as budgets from "@/server/domain/budgets";

const tags = ["Budgets"];
const everybody = ["service_principal", "human_session"] as const;
const people = ["human_session"] as const;

export const getBudgetPolicy = endpoint({
  method: "GET",
  path: "/v1/projects/{project_id}/budget-policy",
  summary: "Read a project's ceilings and what counts against them now",
  tags,
  auth: everybody,
  scope: "billing:read",
  params: ProjectRef,
  output: BudgetPolicy,
  errors: ["NotFound"],
  run: (ctx, { params }) => budgets.policy(ctx, params.project_id),
});

export const putBudgetPolicy = endpoint({
  method: "PUT",
  path: "/v1/projects/{project_id}/budget-policy",
  summary: "Set a project's ceilings",
  description:
    "The whole policy: `{budgets: [{period, ceilingMicros, enforcement, …}]}`, or with one ceiling `{enforcement, ceilingMicros, period}` (period month when not said, enforcement prevent). A period that is not in it is off from now on. `{enforcement}` alone changes the mode of what stands. A temporary increase that is left out stays; null takes it back. What is reserved and spent in the current period already counts at once.",
  tags,
  auth: people,
  params: ProjectRef,
  body: PutBudgetPolicy,
  output: BudgetPolicy,
  errors: ["NotFound"],
  run: (ctx, { params, body }) => budgets.putPolicy(ctx, params.project_id, body),
});

export const getGuardrails = endpoint({
  method: "GET",
  path: "/v1/billing/guardrails",
  summary: "Read the ceilings on what runs on the organization's own provider accounts",
  tags,
  auth: everybody,
  scope: "billing:read",
  query: OrganizationQuery,
  output: Guardrails,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => budgets.guardrails(ctx, query.organizationId),
});

export const patchGuardrails = endpoint({
  method: "PATCH",
  path: "/v1/billing/guardrails",
  summary: "Set or remove them",
  description:
    "`dailyMicros` is a budget of the UTC day, `perExecutionMicros` the most one execution may cost, both at list price; null removes. Going above either is 402 BudgetExceeded with the scope `guardrail:<organization id>`.",
  tags,
  auth: people,
  body: ChangeGuardrails,
  output: Guardrails,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { body }) => budgets.changeGuardrails(ctx, body),
});

export const listHolds = endpoint({
  method: "GET",
  path: "/v1/billing/holds",
  summary: "List money that is set aside, newest first",
  description:
    "`open`: the execution has not ended. `ambiguous`: it has, and nobody knows whether the provider charged; it counts until a person resolves it.",
  tags,
  auth: everybody,
  scope: "billing:read",
  query: ListHolds,
  output: HoldPage,
  errors: ["NotFound"],
  run: (ctx, { query }) => budgets.listHolds(ctx, query),
});

export const resolveHold = endpoint({
  method: "POST",
  path: "/v1/billing/holds/{hold_id}/resolve",
  summary: "Say what became of an ambiguous hold",
  description:
    "By an owner of the organization, or an operator. `chargedMicros` is the whole charge, the service fee included. The receipt stays as it was sealed.",
  tags,
  auth: people,
  params: HoldPath,
  body: ResolveHold,
  output: HoldView,
  errors: ["NotFound", "HoldNotAmbiguous", "ComparisonUnjudged"],
  run: (ctx, { params, body }) => budgets.resolveHold(ctx, params.hold_id, body),
});
