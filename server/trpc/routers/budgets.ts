import { z } from "zod";
import {
  BudgetAlert,
  BudgetList,
  BudgetRef,
  BudgetView,
  Guardrails,
  HoldPage,
  HoldsResolved,
  HoldView,
  IncreaseBudget,
  ResolveHolds,
  SetBudget,
} from "@/server/contract/budgets";
import { ProjectRef } from "@/server/contract/jobs";
import { ofWork } from "@/server/contract/work";
import { access } from "@/server/domain/access";
import * as budgets from "@/server/domain/budgets";
import * as api from "@/server/operations/budgets";
import { router } from "../init";
import { does, mutation, reads, widerQuery } from "../of";
import { pageWithWork } from "../works";

const WorkPage = HoldPage.extend({ items: z.array(HoldView.extend(ofWork)) });

/** The budgets that apply to a project, their holds, and what a person may do about both. */
export const budgetsRouter = router({
  list: reads(ProjectRef, BudgetList, (ctx, input) => budgets.listForProject(ctx, input.project_id)),
  set: does(SetBudget, BudgetView, budgets.set),
  increase: does(IncreaseBudget, BudgetView, budgets.increase),
  clearIncrease: does(BudgetRef, BudgetView, (ctx, input) => budgets.clearIncrease(ctx, input.budgetId)),
  remove: does(BudgetRef, BudgetView, (ctx, input) => budgets.remove(ctx, input.budgetId)),
  holds: widerQuery(api.listHolds, {
    needs: ["projectId"],
    shown: WorkPage,
    // The execution of a hold may be a job or an unjudged comparison, as its id shows.
    view: (page, ctx) =>
      pageWithWork(
        {
          ...page,
          items: page.items.map((hold) => ({
            ...hold,
            jobId: hold.executionId,
            comparisonId: hold.executionId,
          })),
        },
        ctx,
      ),
  }),
  resolve: mutation(api.resolveHold),
  resolveMany: does(ResolveHolds, HoldsResolved, budgets.resolveHolds),
  alerts: reads(
    ProjectRef.extend({ test: z.boolean().optional() }),
    z.array(BudgetAlert),
    async (ctx, input) => {
      const { id, organizationId } = await access.authorize(ctx, "billing:read", {
        projectId: input.project_id,
      });
      return budgets.alerts(ctx, { organizationId, projectId: id, test: input.test });
    },
  ),
  guardrails: reads(ProjectRef, Guardrails, async (ctx, input) => {
    const { organizationId } = await access.authorize(ctx, "billing:read", { projectId: input.project_id });
    return budgets.guardrails(ctx, organizationId);
  }),
  changeGuardrails: mutation(api.patchGuardrails),
});
