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
  summary: "Retrieve a project's budgets and current usage",
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
  summary: "Set a project's budgets",
  description:
    "Replaces the whole policy: send `{budgets: [{period, ceilingMicros, enforcement, …}]}`, or `{enforcement, ceilingMicros, period}` for a single budget (`period` defaults to month, `enforcement` to prevent). Periods that you leave out are turned off. `{enforcement}` alone changes only the enforcement of existing budgets. A temporary increase that you leave out is kept; null removes it. Amounts already spent and reserved in the current period count immediately.",
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
  summary: "Retrieve the spending limits on the organization's own provider accounts",
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
  summary: "Set or remove the spending limits on the organization's own provider accounts",
  description:
    "`dailyMicros` limits spending per UTC day and `perExecutionMicros` the cost of one execution, both at list price; null removes a limit. An execution above either limit is rejected with 402 BudgetExceeded and the scope `guardrail:<organization id>`.",
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
  summary: "List holds, newest first",
  description:
    "A hold is money reserved for an execution. `open`: the execution has not ended. `ambiguous`: it has ended and it is unknown whether the provider charged; the hold counts until someone resolves it.",
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
  summary: "Resolve an ambiguous hold",
  description:
    "For owners of the organization and operators. `chargedMicros` is the total charge, including the service fee. The sealed receipt does not change.",
  tags,
  auth: people,
  params: HoldPath,
  body: ResolveHold,
  output: HoldView,
  errors: ["NotFound", "HoldNotAmbiguous", "ComparisonUnjudged"],
  run: (ctx, { params, body }) => budgets.resolveHold(ctx, params.hold_id, body),
});
