"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
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
import type { HoldView } from "@/server/contract/budgets";
import { dollars } from "./words";

/** A person records the outcome of an unconfirmed charge. */
export function ResolveDialog({ hold, onClose }: { hold: HoldView | null; onClose: () => void }) {
  return (
    <Dialog open={hold !== null} onOpenChange={(isOpen) => !isOpen && onClose()}>
      {hold && <ResolveForm hold={hold} onClose={onClose} />}
    </Dialog>
  );
}

function ResolveForm({ hold, onClose }: { hold: HoldView; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [outcome, setOutcome] = useState("charged");
  const resolve = useMutation(
    trpc.budgets.resolve.mutationOptions({
      onSuccess: () => {
        toast.success("Charge resolved");
        onClose();
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.budgets.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const note = String(fields.get("note"));
    const { holdId } = hold;
    resolve.mutate(
      outcome === "charged"
        ? { hold_id: holdId, note, chargedMicros: requiredAmount(fields, "charged") }
        : { hold_id: holdId, note, notCharged: true },
    );
  }
  return (
    <DialogContent
      title="Resolve charge"
      description={`${dollars(hold.amountMicros)} is reserved. The sealed receipt does not change. This cannot be undone.`}
    >
      <form onSubmit={submit} className="space-y-4">
        {resolve.error && (
          <Notice tone="bad" role="alert">
            {toFailure(resolve.error).message}
          </Notice>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="space-y-1.5">
            <Label htmlFor="resolve-outcome">Outcome</Label>
            <Select value={outcome} onValueChange={setOutcome}>
              <SelectTrigger id="resolve-outcome" />
              <SelectContent>
                <SelectItem value="charged">Charged</SelectItem>
                <SelectItem value="not">Not charged</SelectItem>
              </SelectContent>
            </Select>
          </div>
          {outcome === "charged" && (
            <AmountField
              id="resolve-charged"
              name="charged"
              label="Total charge in US dollars"
              bounds={SOME_AMOUNT}
              required
              micros={hold.amountMicros}
            />
          )}
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="resolve-note">Evidence</Label>
          <Input id="resolve-note" name="note" required maxLength={1000} autoComplete="off" />
        </div>
        <SubmitActions pending={resolve.isPending}>Resolve charge</SubmitActions>
      </form>
    </DialogContent>
  );
}
