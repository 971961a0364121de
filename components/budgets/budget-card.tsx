"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { ChoiceField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { BudgetBar } from "@/components/blocks/money/budget-bar";
import { dollars } from "@/components/blocks/money/money";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { Moment } from "@/components/time/moment";
import { SOME_AMOUNT } from "@/components/ui/amount";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CardBody, Section } from "@/components/ui/card";
import type { BudgetEnforcement, BudgetView } from "@/server/contract/budgets";
import { BudgetDialog } from "./budget-dialog";
import { OwnerName } from "./owner-name";
import { budgetName, MODES, NOW, PERIODS, spentOf } from "./words";

const TONES: Record<BudgetEnforcement, Tone> = { prevent: "good", warn: "warn", off: "neutral" };

type Props = {
  projectId: string;
  budget: BudgetView;
  isTest: boolean;
  keyNames: ReadonlyMap<string, string>;
  /** Set when the reader may change the budget. */
  project: ProjectChoice | undefined;
};

/** One budget: spend and reserved funds against its limit, and the actions of an admin. */
export function BudgetCard({ projectId, budget, isTest, keyNames, project }: Props) {
  const name = budgetName(budget, keyNames);
  const spend = isTest ? budget.testSpend : budget.spend;
  const ceiling = budget.effectiveCeilingMicros;
  const titleId = `budget-${budget.budgetId}`;
  return (
    <Section
      id={titleId}
      title={<OwnerName projectId={projectId} keyNames={keyNames} scope={budget.scope} />}
      hint={PERIODS[budget.period]}
      actions={<Badge tone={TONES[budget.enforcement]}>{MODES[budget.enforcement]}</Badge>}
      isFlush
    >
      <CardBody className="space-y-2">
        <p className="text-sm text-muted tabular-nums">
          <span className="text-xl font-semibold text-text">{dollars(spentOf(spend))}</span> of{" "}
          {dollars(ceiling)} {NOW[budget.period]}
          {budget.managedOnly && ", excluding your own provider accounts"}
        </p>
        <BudgetBar name={name} ceilingMicros={ceiling} spend={spend} />
        {budget.temporaryIncrease && (
          <p className="text-xs text-muted">
            Increased by {dollars(budget.temporaryIncrease.amountMicros)} until{" "}
            <Moment at={budget.temporaryIncrease.until} />: {budget.temporaryIncrease.reason}
          </p>
        )}
      </CardBody>
      {project && <Actions budget={budget} project={project} name={name} />}
    </Section>
  );
}

function Actions({ budget, project, name }: { budget: BudgetView; project: ProjectChoice; name: string }) {
  const trpc = useTRPC();
  const [isEditing, setEditing] = useState(false);
  const [isRaising, setRaising] = useState(false);
  const refresh = [trpc.budgets.pathKey()];
  const clear = useAction(trpc.budgets.clearIncrease.mutationOptions(), { refresh });
  const remove = useAction(trpc.budgets.remove.mutationOptions(), { refresh, done: "Budget turned off" });
  const { budgetId } = budget;
  return (
    <div className="flex flex-wrap gap-1 border-t border-line-soft px-3 py-2">
      <Button size="sm" variant="ghost" aria-label={`Edit: ${name}`} onClick={() => setEditing(true)}>
        Edit
      </Button>
      {budget.enforcement !== "off" && (
        <Button
          size="sm"
          variant="ghost"
          aria-label={`Temporary increase: ${name}`}
          onClick={() => setRaising(true)}
        >
          Temporary increase
        </Button>
      )}
      {budget.temporaryIncrease && (
        <Button
          size="sm"
          variant="ghost"
          aria-label={`End increase: ${name}`}
          pending={clear.isPending}
          onClick={() => clear.mutate({ budgetId })}
        >
          End increase
        </Button>
      )}
      {budget.enforcement !== "off" && (
        <ConfirmAction
          label="Turn off"
          title="Turn off this budget?"
          description="It will no longer warn about or block spending. If you set it again, spending in the meantime counts."
          action="Turn off"
          onConfirm={() => remove.mutate({ budgetId })}
          size="sm"
          variant="ghost"
          aria-label={`Turn off: ${name}`}
        />
      )}
      {isEditing && <BudgetDialog project={project} budget={budget} onClose={() => setEditing(false)} />}
      {isRaising && <IncreaseDialog budget={budget} name={name} onClose={() => setRaising(false)} />}
    </div>
  );
}

const HOUR_MS = 3_600_000;
const LENGTHS = [
  { value: "1", label: "1 hour" },
  { value: "24", label: "1 day" },
  { value: "168", label: "1 week" },
  { value: "720", label: "30 days" },
];

type IncreaseDialogProps = { budget: BudgetView; name: string; onClose(): void };

/** Increases the limit of a budget for some time. */
function IncreaseDialog({ budget: { budgetId }, name, onClose }: IncreaseDialogProps) {
  const trpc = useTRPC();
  const raise = useAction(trpc.budgets.increase.mutationOptions(), {
    done: "Limit increased",
    refresh: [trpc.budgets.pathKey()],
    isInPlace: true,
  });
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title="Temporary increase"
      description={`${name}. The limit returns to its current value afterwards.`}
      action={raise}
      send={(sent) =>
        raise.mutate({
          budgetId,
          amountMicros: sent.requiredMicros("amountMicros"),
          until: new Date(Date.now() + Number(sent.text("until")) * HOUR_MS).toISOString(),
          reason: sent.text("reason"),
        })
      }
      submit="Increase limit"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <MoneyField
          name="amountMicros"
          label="Increase in US dollars"
          bounds={SOME_AMOUNT}
          required
          micros={5_000_000}
        />
        <ChoiceField name="until" label="Duration" defaultValue="24" options={LENGTHS} />
      </div>
      <TextField name="reason" label="Reason" required maxLength={500} />
    </FormDialog>
  );
}
