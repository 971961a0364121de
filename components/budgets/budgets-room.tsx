"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Gauge, Plus } from "lucide-react";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { OtherMode, useIsTest } from "@/components/shell/mode";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { AlertList } from "./alert-list";
import { BudgetCard } from "./budget-card";
import { BudgetDialog } from "./budget-dialog";
import { GuardrailCard } from "./guardrail-card";
import { HoldList } from "./hold-list";
import { spentOf } from "./words";

const REFRESH_MS = 10_000;

/** The budgets that apply to a project, their current spend, and the jobs that hold reserved funds. */
export function BudgetsRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const asked = { project_id: projectId };
  const { data: all } = useLive(trpc.budgets.list.queryOptions(asked), REFRESH_MS);
  const { data: keys } = useSuspenseQuery(trpc.keys.list.queryOptions(asked));
  const [isOpen, setOpen] = useState(false);
  const { project, may } = useProject(projectId);
  const canSet = may("admin");
  const keyNames = new Map(keys.map((key) => [key.keyId, key.name]));
  const budgets = all.items.filter(({ scope }) => !/^(guardrail|connection):/.test(scope));
  const isTest = useIsTest();
  const hasOther = budgets.some(({ spend, testSpend }) => spentOf(isTest ? spend : testSpend) > 0);

  return (
    <>
      <PageHeader
        title="Budgets"
        actions={
          canSet && (
            <Button variant="primary" onClick={() => setOpen(true)}>
              <Plus aria-hidden />
              Set budget
            </Button>
          )
        }
      >
        Spending limits. Reserved funds count; “Prevent” blocks new jobs at the limit.
      </PageHeader>
      {project && isOpen && (
        <BudgetDialog project={project} keys={keys} standing={budgets} onClose={() => setOpen(false)} />
      )}
      {budgets.length === 0 ? (
        <Card>
          <EmptyState icon={Gauge} title="No budgets yet">
            {canSet
              ? "Set one for this project, the whole organization, or a single API key or person."
              : "Admins of your organization can set one. Until then, only the available funds limit spending."}
          </EmptyState>
        </Card>
      ) : (
        <>
          <OtherMode has={hasOther}>{(other) => `${other} has spending on these budgets too.`}</OtherMode>
          <AlertList projectId={projectId} keyNames={keyNames} isTest={isTest} />
          <ul className="grid gap-4 xl:grid-cols-2">
            {budgets.map((budget) => (
              <li key={budget.budgetId} className="min-w-0">
                <BudgetCard
                  projectId={projectId}
                  budget={budget}
                  isTest={isTest}
                  keyNames={keyNames}
                  project={canSet ? project : undefined}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      <HoldList projectId={projectId} keyNames={keyNames} isTest={isTest} canResolve={may("owner")} />
      <GuardrailCard projectId={projectId} canSet={canSet} />
    </>
  );
}
