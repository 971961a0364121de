"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Gauge, Plus } from "lucide-react";
import { useState } from "react";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
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
  const { data: all } = useSuspenseQuery({
    ...trpc.budgets.list.queryOptions(asked),
    refetchInterval: REFRESH_MS,
  });
  const { data: projects } = useSuspenseQuery(trpc.projects.list.queryOptions());
  const { data: keys } = useSuspenseQuery(trpc.keys.list.queryOptions(asked));
  const [money, setMoney] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const project = projects.find((each) => each.projectId === projectId);
  const canSet = project?.role === "owner" || project?.role === "admin";
  const keyNames = new Map(keys.map((key) => [key.keyId, key.name]));
  const budgets = all.items.filter(({ scope }) => !/^(guardrail|connection):/.test(scope));
  // When only test money was spent, show test money first.
  const onlyTest =
    budgets.some(({ testSpend }) => spentOf(testSpend) > 0) &&
    budgets.every(({ spend }) => spentOf(spend) === 0);
  const isTest = money === null ? onlyTest : money === "test";

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
      {project && (
        <BudgetDialog
          project={project}
          keys={keys}
          standing={budgets}
          isOpen={isOpen}
          onOpenChange={setOpen}
        />
      )}
      <AlertList projectId={projectId} keyNames={keyNames} />
      {budgets.length === 0 ? (
        <Card>
          <EmptyState icon={Gauge} title="No budgets yet">
            {canSet
              ? "Set one for this project, the whole organization, or a single API key or person."
              : "Admins of your organization can set one. Until then, only the available funds limit spending."}
          </EmptyState>
        </Card>
      ) : (
        <Tabs value={isTest ? "test" : "live"} onValueChange={setMoney}>
          <TabsList aria-label="Money">
            <TabsTrigger value="live">Live money</TabsTrigger>
            <TabsTrigger value="test">Test money</TabsTrigger>
          </TabsList>
          <TabsContent value={isTest ? "test" : "live"} className="mt-3">
            <ul className="grid gap-4 xl:grid-cols-2">
              {budgets.map((budget) => (
                <li key={budget.budgetId} className="min-w-0">
                  <BudgetCard
                    budget={budget}
                    isTest={isTest}
                    keyNames={keyNames}
                    project={canSet ? project : undefined}
                  />
                </li>
              ))}
            </ul>
          </TabsContent>
        </Tabs>
      )}
      <HoldList projectId={projectId} canResolve={project?.role === "owner"} />
      <GuardrailCard projectId={projectId} canSet={canSet} />
    </>
  );
}
