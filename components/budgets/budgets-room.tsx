"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Gauge, Plus } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { Form } from "@/components/blocks/form/form";
import { column } from "@/components/blocks/list/columns";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { BudgetBar } from "@/components/blocks/money/budget-bar";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { OtherMode, useIsTest } from "@/components/shell/mode";
import { PageHeader } from "@/components/shell/page-header";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, Section } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Fact, Facts } from "@/components/ui/facts";
import type { BudgetAlert, Guardrails } from "@/server/contract/budgets";
import { BudgetCard } from "./budget-card";
import { BudgetDialog } from "./budget-dialog";
import { HoldList } from "./hold-list";
import { LimitFields } from "./limit-fields";
import { OwnerName, type OwnerNames } from "./owner-name";
import { alertsQuery } from "./queries";
import { PERIODS, spentOf } from "./words";

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

const TONES: Record<number, "bad" | "warn"> = { 100: "bad", 80: "warn" };

/** The latest alert of each budget at 50, 80 and 100% of its limit; renders nothing if there are none. */
function AlertList({ projectId, keyNames, isTest }: OwnerNames & { isTest: boolean }) {
  const trpc = useTRPC();
  const { data: latest } = useSuspenseQuery(trpc.budgets.alerts.queryOptions(alertsQuery(projectId, isTest)));
  if (latest.length === 0) return null;
  return (
    <Section title="Alerts" hint="At 50, 80 and 100% of a limit" isFlush className="mb-4">
      <ResourceTable
        label="Alerts by budget"
        rows={latest}
        idOf={({ alertId }) => alertId}
        columns={columnsOf({ projectId, keyNames })}
      />
    </Section>
  );
}

const columnsOf = (names: OwnerNames): TableColumn<BudgetAlert>[] => [
  {
    header: "Budget",
    card: "title",
    cell: ({ scope, period }) => (
      <>
        <span className="font-medium">
          <OwnerName {...names} scope={scope} />
        </span>
        <span className="text-muted">, {PERIODS[period].toLowerCase()}</span>
      </>
    ),
  },
  column.status(({ percent }) => <Badge tone={TONES[percent] ?? "neutral"}>{percent}%</Badge>, "Reached"),
  column.amount("Spent and reserved", ({ spentMicros, reservedMicros }) => (
    <Amount of={spentMicros + reservedMicros} />
  )),
  {
    header: "Limit",
    align: "end",
    card: "fact",
    className: "text-muted",
    cell: ({ ceilingMicros }) => dollars(ceilingMicros),
  },
  column.ago("Time", ({ createdAt }) => createdAt),
];

const shown = (micros: number | null) => (micros === null ? "No limit" : dollars(micros));

/** Safety limits for jobs on the organization's own provider accounts. */
function GuardrailCard({ projectId, canSet }: { projectId: string; canSet: boolean }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.budgets.guardrails.queryOptions({ project_id: projectId }));
  return (
    <Section
      title="Own provider accounts"
      hint="Spending limits for the whole organization, at list price"
      className="mt-4"
      bodyClassName="space-y-4"
    >
      {data.dailyMicros !== null && data.spend && (
        <BudgetBar name="Own provider accounts, daily" ceilingMicros={data.dailyMicros} spend={data.spend} />
      )}
      {canSet ? (
        <GuardrailForm key={`${data.dailyMicros} ${data.perExecutionMicros}`} guardrails={data} />
      ) : (
        <Facts>
          <Fact name="Daily">{shown(data.dailyMicros)}</Fact>
          <Fact name="Per execution">{shown(data.perExecutionMicros)}</Fact>
        </Facts>
      )}
    </Section>
  );
}

function GuardrailForm({ guardrails }: { guardrails: Guardrails }) {
  const trpc = useTRPC();
  const save = useAction(trpc.budgets.changeGuardrails.mutationOptions(), {
    done: "Limits saved",
    refresh: [trpc.budgets.pathKey()],
    isInPlace: true,
  });
  return (
    <Form
      action={save}
      send={(sent) =>
        save.mutate({
          organizationId: guardrails.organizationId,
          dailyMicros: sent.micros("dailyMicros"),
          perExecutionMicros: sent.micros("perExecutionMicros"),
        })
      }
      className="space-y-3"
    >
      <div className="grid gap-4 sm:grid-cols-[13rem_13rem]">
        <LimitFields limits={guardrails} />
      </div>
      <Button type="submit" pending={save.isPending}>
        Save limits
      </Button>
    </Form>
  );
}
