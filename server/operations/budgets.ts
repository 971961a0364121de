import {
  BudgetList,
  BudgetPolicy,
  BudgetView,
  ChangeGuardrails,
  Guardrails,
  HoldPage,
  HoldView,
  ListBudgets,
  ListHolds,
  OrganizationQuery,
  PutBudgetPolicy,
  ResolveHold,
  SetBudget,
} from "@/server/contract/budgets";
import * as budgets from "@/server/domain/budgets";
import { byKeysAndPeople, byPeople, operations } from "./define";

const read = operations("Budgets", byKeysAndPeople("billing:read"));
const readPolicy = operations("Budgets", byKeysAndPeople("budgets:read"));
const manage = operations("Budgets", byKeysAndPeople("budgets:write"));
const people = operations("Budgets", byPeople);

export const listBudgets = manage.get("/v1/budgets", {
  summary: "List budgets and their usage",
  description:
    "The budgets of your organizations. To a management key: those of its projects, of the keys that it created, and its own.",
  query: ListBudgets,
  output: BudgetList,
  errors: ["NotFound"],
  run: (ctx, { query }) => budgets.list(ctx, query),
});

export const setBudget = manage.put("/v1/budgets", {
  summary: "Create or change a budget",
  description:
    "An owner has one budget per period, so repeating the request changes nothing. A management key can set those of its projects and of its keys, and lower its own.",
  body: SetBudget,
  example: {
    owner: { projectId: "cpr_01jd0000000000000000000000" },
    period: "month",
    ceilingMicros: 50_000_000,
    enforcement: "prevent",
  },
  output: BudgetView,
  errors: ["NotFound"],
  run: (ctx, { body }) => budgets.set(ctx, body),
});

export const removeBudget = manage.delete("/v1/budgets/{budget_id}", {
  summary: "Turn a budget off",
  description: "Nothing counts against it any longer. Its history stays.",
  output: BudgetView,
  run: (ctx, { budget_id }) => budgets.remove(ctx, budget_id),
});

export const getBudgetPolicy = readPolicy.get("/v1/projects/{project_id}/budget-policy", {
  summary: "Retrieve a project's budgets and current usage",
  output: BudgetPolicy,
  run: (ctx, { project_id }) => budgets.policy(ctx, project_id),
});

export const putBudgetPolicy = manage.put("/v1/projects/{project_id}/budget-policy", {
  summary: "Set a project's budgets",
  description:
    "Replaces the whole policy: send `{budgets: [{period, ceilingMicros, enforcement, …}]}`, or `{enforcement, ceilingMicros, period}` for a single budget (`period` defaults to month, `enforcement` to prevent). Periods that you leave out are turned off. `{enforcement}` alone changes only the enforcement of existing budgets. A temporary increase that you leave out is kept; null removes it. Amounts already spent and reserved in the current period count immediately.",
  body: PutBudgetPolicy,
  example: { enforcement: "prevent", period: "day", ceilingUsd: 5 },
  output: BudgetPolicy,
  run: (ctx, { project_id, body }) => budgets.putPolicy(ctx, project_id, body),
});

export const getGuardrails = read.get("/v1/billing/guardrails", {
  summary: "Retrieve the spending limits on the organization's own provider accounts",
  query: OrganizationQuery,
  output: Guardrails,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => budgets.guardrails(ctx, query.organizationId),
});

export const patchGuardrails = people.patch("/v1/billing/guardrails", {
  summary: "Set or remove the spending limits on the organization's own provider accounts",
  description:
    "`dailyMicros` limits spending per UTC day and `perExecutionMicros` the cost of one execution, both at list price; null removes a limit. An execution above either limit is rejected with 402 BudgetExceeded and the scope `guardrail:<organization id>`.",
  body: ChangeGuardrails,
  example: { dailyMicros: 5_000_000, perExecutionMicros: 500_000 },
  output: Guardrails,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { body }) => budgets.changeGuardrails(ctx, body),
});

export const listHolds = read.get("/v1/billing/holds", {
  summary: "List holds, newest first",
  description:
    "A hold is money reserved for an execution. `open`: the execution has not ended. `ambiguous`: it has ended and it is unknown whether the provider charged; the hold counts until someone resolves it.",
  query: ListHolds,
  output: HoldPage,
  errors: ["NotFound"],
  run: (ctx, { query }) => budgets.listHolds(ctx, query),
});

export const resolveHold = people.post("/v1/billing/holds/{hold_id}/resolve", {
  summary: "Resolve an ambiguous hold",
  description:
    "For owners of the organization and operators. `chargedMicros` is the total charge, including the service fee. The sealed receipt does not change.",
  body: ResolveHold,
  example: { notCharged: true, note: "The provider confirmed that nothing ran." },
  output: HoldView,
  errors: ["HoldNotAmbiguous", "ComparisonUnjudged"],
  run: (ctx, { hold_id, body }) => budgets.resolveHold(ctx, hold_id, body),
});
