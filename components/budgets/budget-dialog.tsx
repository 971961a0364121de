"use client";
import { useId, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { CheckField, ChoiceField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import type { BudgetPeriod, BudgetView } from "@/server/contract/budgets";
import { BUDGET_PERIODS } from "@/server/contract/enums";
import type { ApiKey } from "@/server/contract/organizations";
import { MODES, PERIODS, replacedBy } from "./words";

type Props = {
  project: ProjectChoice;
  /** The budget to change; its owner and period stay. */
  budget?: BudgetView;
  /** For a new budget: the keys to offer. */
  keys?: ApiKey[];
  /** The existing budgets: a new one may replace one of them. */
  standing?: BudgetView[];
  onClose(): void;
};

const OWNERS = [
  { value: "project", label: "This project" },
  { value: "organization", label: "Whole organization" },
  { value: "principal", label: "API key or person" },
];
const PERIOD_OPTIONS = BUDGET_PERIODS.map((value) => ({ value, label: PERIODS[value] }));
const AT_LIMIT = (["prevent", "warn"] as const).map((value) => ({ value, label: MODES[value] }));

/** The owner of an existing budget, as input of the router. */
function ownerOf({ scope, organizationId }: BudgetView) {
  const [kind, id = ""] = scope.split(":");
  if (kind === "project") return { projectId: id };
  return kind === "principal" ? { organizationId, principalId: id } : { organizationId };
}

/** Sets a new budget, or changes the one given. */
export function BudgetDialog({ project, budget, keys = [], standing = [], onClose }: Props) {
  const trpc = useTRPC();
  const listId = useId();
  const [kind, setKind] = useState("project");
  const [period, setPeriod] = useState<BudgetPeriod>(budget?.period ?? "month");
  const [principal, setPrincipal] = useState("");
  const set = useAction(trpc.budgets.set.mutationOptions(), {
    done: "Budget saved",
    refresh: [trpc.budgets.pathKey()],
    isInPlace: true,
  });
  const owner = budget ? ownerOf(budget) : chosenOwner();
  function chosenOwner() {
    const { organizationId, projectId } = project;
    if (kind === "project") return { projectId };
    if (kind === "organization") return { organizationId };
    return { organizationId, principalId: principal.trim() };
  }
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title={budget ? "Edit budget" : "Set budget"}
      description="Funds already spent or reserved in this period count toward the limit."
      action={set}
      send={(sent) =>
        set.mutate({
          owner,
          period,
          ceilingMicros: sent.requiredMicros("ceilingMicros"),
          enforcement: sent.oneOf("enforcement", ["prevent", "warn"]),
          managedOnly: sent.has("managedOnly"),
        })
      }
      submit={budget ? "Save" : "Set budget"}
    >
      {!budget && (
        <div className="grid gap-4 sm:grid-cols-2">
          <ChoiceField name="owner" label="Scope" value={kind} onValueChange={setKind} options={OWNERS} />
          <ChoiceField
            name="period"
            label="Period"
            value={period}
            onValueChange={(next) => setPeriod(oneOfOr(period, BUDGET_PERIODS)(next))}
            options={PERIOD_OPTIONS}
          />
        </div>
      )}
      {!budget && kind === "principal" && (
        <>
          <TextField
            name="principalId"
            label="Key or person ID"
            value={principal}
            onChange={({ target }) => setPrincipal(target.value)}
            list={listId}
            required
            maxLength={64}
            placeholder="key_… or usr_…"
          />
          <datalist id={listId}>
            {keys
              .filter(({ revokedAt }) => revokedAt === null)
              .map((key) => (
                <option key={key.keyId} value={key.keyId}>
                  {key.name}
                </option>
              ))}
          </datalist>
        </>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <MoneyField
          name="ceilingMicros"
          label="Limit in US dollars"
          required
          micros={budget?.ceilingMicros ?? 10_000_000}
        />
        <ChoiceField
          name="enforcement"
          label="At the limit"
          defaultValue={budget?.enforcement === "warn" ? "warn" : "prevent"}
          options={AT_LIMIT}
        />
      </div>
      <CheckField
        name="managedOnly"
        label="Exclude jobs on your own provider accounts"
        defaultChecked={budget?.managedOnly ?? false}
      />
      <p role="status" className="text-sm text-warn empty:hidden">
        {!budget && replacedBy(owner, period, standing)}
      </p>
    </FormDialog>
  );
}
