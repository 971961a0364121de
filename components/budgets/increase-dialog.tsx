"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { toFailure, useTRPC } from "@/components/trpc";
import { requiredAmount, SOME_AMOUNT } from "@/components/ui/amount";
import { AmountField } from "@/components/ui/amount-field";
import { Dialog, DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { BudgetView } from "@/server/contract/budgets";

const HOUR_MS = 3_600_000;
const LENGTHS = [
  { hours: "1", label: "1 hour" },
  { hours: "24", label: "1 day" },
  { hours: "168", label: "1 week" },
  { hours: "720", label: "30 days" },
];

type Props = { budget: BudgetView; name: string; isOpen: boolean; onOpenChange: (isOpen: boolean) => void };

/** Increases the limit of a budget for some time. */
export function IncreaseDialog(props: Props) {
  return (
    <Dialog open={props.isOpen} onOpenChange={props.onOpenChange}>
      {props.isOpen && <IncreaseForm {...props} />}
    </Dialog>
  );
}

function IncreaseForm({ budget, name, onOpenChange }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const raise = useMutation(
    trpc.budgets.increase.mutationOptions({
      onSuccess: () => {
        toast.success("Limit increased");
        onOpenChange(false);
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.budgets.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    raise.mutate({
      budgetId: budget.budgetId,
      amountMicros: requiredAmount(fields, "amount"),
      until: new Date(Date.now() + Number(fields.get("length")) * HOUR_MS).toISOString(),
      reason: String(fields.get("reason")),
    });
  }
  return (
    <DialogContent
      title="Temporary increase"
      description={`${name}. The limit returns to its current value afterwards.`}
    >
      <form onSubmit={submit} className="space-y-4">
        {raise.error && (
          <Notice tone="bad" role="alert">
            {toFailure(raise.error).message}
          </Notice>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <AmountField
            id="increase-amount"
            name="amount"
            label="Increase in US dollars"
            bounds={SOME_AMOUNT}
            required
            micros={5_000_000}
          />
          <div className="space-y-1.5">
            <Label htmlFor="increase-length">Duration</Label>
            <Select name="length" defaultValue="24">
              <SelectTrigger id="increase-length" />
              <SelectContent>
                {LENGTHS.map(({ hours, label }) => (
                  <SelectItem key={hours} value={hours}>
                    {label}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          </div>
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="increase-reason">Reason</Label>
          <Input id="increase-reason" name="reason" required maxLength={500} autoComplete="off" />
        </div>
        <SubmitActions pending={raise.isPending}>Increase limit</SubmitActions>
      </form>
    </DialogContent>
  );
}
