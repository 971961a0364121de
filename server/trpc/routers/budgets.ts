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
import { human, router } from "../init";
import { mutation, widerQuery } from "../of";
import { pageWithWork } from "../works";

const WorkPage = HoldPage.extend({ items: z.array(HoldView.extend(ofWork)) });

/** The budgets that apply to a project, their holds, and what a person may do about both. */
export const budgetsRouter = router({
  /** Of the project, its organization, and their keys and people. */
  list: human
    .input(ProjectRef)
    .output(BudgetList)
    .query(async ({ ctx, input }) => {
      const { id, organizationId } = await access.authorize(ctx, "billing:read", {
        projectId: input.project_id,
      });
      const { items } = await budgets.list(ctx, { organizationId });
      return { items: items.filter(({ projectId }) => projectId === null || projectId === id) };
    }),
  set: human
    .input(SetBudget)
    .output(BudgetView)
    .mutation(({ ctx, input }) => budgets.set(ctx, input)),
  increase: human
    .input(IncreaseBudget)
    .output(BudgetView)
    .mutation(({ ctx, input }) => budgets.increase(ctx, input)),
  clearIncrease: human
    .input(BudgetRef)
    .output(BudgetView)
    .mutation(({ ctx, input }) => budgets.clearIncrease(ctx, input.budgetId)),
  remove: human
    .input(BudgetRef)
    .output(BudgetView)
    .mutation(({ ctx, input }) => budgets.remove(ctx, input.budgetId)),
  holds: widerQuery(api.listHolds, {
    needs: ["projectId"],
    shown: WorkPage,
    // A hold is of a job, or of a comparison that no one has judged: its id says which.
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
  resolveMany: human
    .input(ResolveHolds)
    .output(HoldsResolved)
    .mutation(({ ctx, input }) => budgets.resolveHolds(ctx, input)),
  alerts: human
    .input(ProjectRef.extend({ test: z.boolean().optional() }))
    .output(z.array(BudgetAlert))
    .query(async ({ ctx, input }) => {
      const { id, organizationId } = await access.authorize(ctx, "billing:read", {
        projectId: input.project_id,
      });
      return budgets.alerts(ctx, { organizationId, projectId: id, test: input.test });
    }),
  guardrails: human
    .input(ProjectRef)
    .output(Guardrails)
    .query(async ({ ctx, input }) => {
      const { organizationId } = await access.authorize(ctx, "billing:read", { projectId: input.project_id });
      return budgets.guardrails(ctx, organizationId);
    }),
  changeGuardrails: mutation(api.patchGuardrails),
});
