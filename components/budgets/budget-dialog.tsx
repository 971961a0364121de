"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { type ProjectChoice, toFailure, useTRPC } from "@/components/trpc";
import { requiredAmount } from "@/components/ui/amount";
import { AmountField } from "@/components/ui/amount-field";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog, DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import { BudgetEnforcement, BudgetPeriod, type BudgetView } from "@/server/contract/budgets";
import type { ApiKey } from "@/server/contract/organizations";
import { MODES, PERIODS, replacedBy } from "./words";

type Props = {
  project: ProjectChoice;
  /** The budget to change; its owner and period stay. */
  budget?: BudgetView;
  keys: ApiKey[];
  /** The existing budgets: a new one may replace one of them. */
  standing: BudgetView[];
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
};

/** Sets a new budget, or changes the one given. */
export function BudgetDialog(props: Props) {
  return (
    <Dialog open={props.isOpen} onOpenChange={props.onOpenChange}>
      {props.isOpen && <BudgetForm {...props} />}
    </Dialog>
  );
}

/** The owner of an existing budget, as the router takes it. */
function ownerOf({ scope, organizationId }: BudgetView) {
  const [kind, id = ""] = scope.split(":");
  if (kind === "project") return { projectId: id };
  return kind === "principal" ? { organizationId, principalId: id } : { organizationId };
}

function BudgetForm({ project, budget, keys, standing, onOpenChange }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [kind, setKind] = useState("project");
  const [period, setPeriod] = useState<BudgetPeriod>(budget?.period ?? "month");
  const [principal, setPrincipal] = useState("");
  const [isManagedOnly, setManagedOnly] = useState(budget?.managedOnly ?? false);
  const set = useMutation(
    trpc.budgets.set.mutationOptions({
      onSuccess: () => {
        toast.success("Budget saved");
        onOpenChange(false);
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.budgets.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );

  const owner = budget ? ownerOf(budget) : chosenOwner();
  const replaced = budget ? null : replacedBy(owner, period, standing);

  function chosenOwner() {
    const { organizationId, projectId } = project;
    if (kind === "project") return { projectId };
    if (kind === "organization") return { organizationId };
    return { organizationId, principalId: principal.trim() };
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    set.mutate({
      owner,
      period,
      ceilingMicros: requiredAmount(fields, "ceiling"),
      enforcement: BudgetEnforcement.parse(fields.get("mode")),
      managedOnly: isManagedOnly,
    });
  }

  return (
    <DialogContent
      title={budget ? "Edit budget" : "Set budget"}
      description="Funds already spent or reserved in this period count toward the limit."
    >
      <form onSubmit={submit} className="space-y-4">
        {set.error && (
          <Notice tone="bad" role="alert">
            {toFailure(set.error).message}
          </Notice>
        )}
        {!budget && (
          <div className="grid gap-4 sm:grid-cols-2">
            <div className="grid gap-1.5">
              <Label htmlFor="budget-owner">Scope</Label>
              <Select value={kind} onValueChange={setKind}>
                <SelectTrigger id="budget-owner" />
                <SelectContent>
                  <SelectItem value="project">This project</SelectItem>
                  <SelectItem value="organization">Whole organization</SelectItem>
                  <SelectItem value="principal">API key or person</SelectItem>
                </SelectContent>
              </Select>
            </div>
            <div className="grid gap-1.5">
              <Label htmlFor="budget-period">Period</Label>
              <Select value={period} onValueChange={(next) => setPeriod(BudgetPeriod.parse(next))}>
                <SelectTrigger id="budget-period" />
                <SelectContent>
                  {BudgetPeriod.options.map((each) => (
                    <SelectItem key={each} value={each}>
                      {PERIODS[each]}
                    </SelectItem>
                  ))}
                </SelectContent>
              </Select>
            </div>
          </div>
        )}
        {!budget && kind === "principal" && (
          <div className="space-y-1.5">
            <Label htmlFor="budget-principal">Key or person ID</Label>
            <Input
              id="budget-principal"
              value={principal}
              onChange={({ target }) => setPrincipal(target.value)}
              list="budget-principals"
              required
              maxLength={64}
              placeholder="key_… or usr_…"
              autoComplete="off"
            />
            <datalist id="budget-principals">
              {keys
                .filter(({ revokedAt }) => revokedAt === null)
                .map((key) => (
                  <option key={key.keyId} value={key.keyId}>
                    {key.name}
                  </option>
                ))}
            </datalist>
          </div>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <AmountField
            id="budget-ceiling"
            name="ceiling"
            label="Limit in US dollars"
            required
            micros={budget?.ceilingMicros ?? 10_000_000}
          />
          <div className="space-y-1.5">
            <Label htmlFor="budget-mode">At the limit</Label>
            <Select
              name="mode"
              defaultValue={budget && budget.enforcement !== "off" ? budget.enforcement : "prevent"}
            >
              <SelectTrigger id="budget-mode" />
              <SelectContent>
                {(["prevent", "warn"] as const).map((mode) => (
                  <SelectItem key={mode} value={mode}>
                    {MODES[mode]}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          </div>
        </div>
        <div className="flex items-center gap-2">
          <Checkbox
            id="budget-managed"
            checked={isManagedOnly}
            onCheckedChange={(checked) => setManagedOnly(checked === true)}
          />
          <Label htmlFor="budget-managed" className="font-normal">
            Exclude jobs on your own provider accounts
          </Label>
        </div>
        <p role="status" className="text-sm text-warn empty:hidden">
          {replaced}
        </p>
        <SubmitActions pending={set.isPending}>{budget ? "Save" : "Set budget"}</SubmitActions>
      </form>
    </DialogContent>
  );
}
