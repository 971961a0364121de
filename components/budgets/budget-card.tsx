"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { toast } from "sonner";
import { Moment } from "@/components/time/moment";
import { type ProjectChoice, useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { useMutation } from "@/components/use-mutation";
import type { BudgetEnforcement, BudgetView } from "@/server/contract/budgets";
import { BudgetChart } from "./budget-chart";
import { BudgetDialog } from "./budget-dialog";
import { IncreaseDialog } from "./increase-dialog";
import { dollars, MODES, NOW, nameOf, ownerName, PERIODS, spentOf } from "./words";

const TONES: Record<BudgetEnforcement, Tone> = { prevent: "good", warn: "warn", off: "neutral" };

/** One budget: spend and reserved funds against its limit, a chart, and the actions of an admin. */
export function BudgetCard({
  budget,
  isTest,
  keyNames,
  project,
}: {
  budget: BudgetView;
  isTest: boolean;
  keyNames: ReadonlyMap<string, string>;
  /** Set when the reader may change the budget. */
  project: ProjectChoice | undefined;
}) {
  const name = nameOf(budget, keyNames);
  const spend = isTest ? budget.testSpend : budget.spend;
  const ceiling = budget.effectiveCeilingMicros;
  const titleId = `budget-${budget.budgetId}`;
  return (
    <Card aria-labelledby={titleId}>
      <CardHeader
        id={titleId}
        title={ownerName(budget.scope, keyNames)}
        hint={PERIODS[budget.period]}
        actions={<Badge tone={TONES[budget.enforcement]}>{MODES[budget.enforcement]}</Badge>}
      />
      <CardBody className="space-y-3">
        <p className="text-sm text-muted tabular-nums">
          <span className="text-xl font-semibold text-text">{dollars(spentOf(spend))}</span> of{" "}
          {dollars(ceiling)} {NOW[budget.period]}
          {budget.managedOnly && ", excluding your own provider accounts"}
        </p>
        <Meter name={name} ceiling={ceiling} settled={spend.settledMicros} held={spend.heldMicros} />
        <ul className="flex flex-wrap gap-x-5 gap-y-1 text-xs text-muted tabular-nums">
          <Legend swatch="bg-primary">{dollars(spend.settledMicros)} spent</Legend>
          <Legend swatch="bg-brass">{dollars(spend.heldMicros)} reserved</Legend>
          <li>{dollars(spend.availableMicros)} left</li>
        </ul>
        {budget.temporaryIncrease && (
          <p className="text-xs text-muted">
            Increased by {dollars(budget.temporaryIncrease.amountMicros)} until{" "}
            <Moment at={budget.temporaryIncrease.until} />: {budget.temporaryIncrease.reason}
          </p>
        )}
        <BudgetChart budget={budget} isTest={isTest} name={name} />
        {project && <Actions budget={budget} project={project} name={name} />}
      </CardBody>
    </Card>
  );
}

const Legend = ({ swatch, children }: { swatch: string; children: ReactNode }) => (
  <li className="flex items-center gap-1.5">
    <span aria-hidden className={`size-2 rounded-full ${swatch}`} />
    {children}
  </li>
);

function Meter({
  name,
  ceiling,
  settled,
  held,
}: {
  name: string;
  ceiling: number;
  settled: number;
  held: number;
}) {
  const whole = Math.max(ceiling, settled + held, 1);
  const width = (micros: number) => `${(micros / whole) * 100}%`;
  return (
    <div
      role="img"
      aria-label={`${name}: ${dollars(settled)} spent and ${dollars(held)} reserved of ${dollars(ceiling)}`}
      className="meter flex h-2 overflow-hidden rounded-full bg-hover"
    >
      <span className="bg-primary" style={{ width: width(settled) }} />
      <span className="bg-brass" style={{ width: width(held) }} />
    </div>
  );
}

function Actions({ budget, project, name }: { budget: BudgetView; project: ProjectChoice; name: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const [isRaising, setRaising] = useState(false);
  const onSettled = () => queryClient.invalidateQueries({ queryKey: trpc.budgets.pathKey() });
  const clear = useMutation(trpc.budgets.clearIncrease.mutationOptions({ onSettled }));
  const remove = useMutation(
    trpc.budgets.remove.mutationOptions({ onSettled, onSuccess: () => toast.success("Budget turned off") }),
  );
  const { budgetId } = budget;
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" aria-label={`Edit: ${name}`} onClick={() => setEditing(true)}>
        Edit
      </Button>
      {budget.enforcement !== "off" && (
        <Button size="sm" aria-label={`Temporary increase: ${name}`} onClick={() => setRaising(true)}>
          Temporary increase
        </Button>
      )}
      {budget.temporaryIncrease && (
        <Button
          size="sm"
          aria-label={`End increase: ${name}`}
          pending={clear.isPending}
          onClick={() => clear.mutate({ budgetId })}
        >
          End increase
        </Button>
      )}
      {budget.enforcement !== "off" && (
        <Confirm
          title="Turn off this budget?"
          description="It will no longer warn about or block spending. If you set it again, spending in the meantime counts."
          action="Turn off"
          onConfirm={() => remove.mutate({ budgetId })}
        >
          <Button size="sm" variant="ghost" aria-label={`Turn off: ${name}`}>
            Turn off
          </Button>
        </Confirm>
      )}
      <BudgetDialog
        project={project}
        budget={budget}
        isOpen={isEditing}
        onOpenChange={setEditing}
        keys={[]}
        standing={[]}
      />
      <IncreaseDialog budget={budget} name={name} isOpen={isRaising} onOpenChange={setRaising} />
    </div>
  );
}
