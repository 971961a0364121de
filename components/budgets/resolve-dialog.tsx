"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/trpc";
import { SOME_AMOUNT } from "@/components/ui/amount";
import type { HoldView } from "@/server/contract/budgets";

const OUTCOMES = [
  { value: "charged", label: "Charged" },
  { value: "not", label: "Not charged" },
];

/** A person records the outcome of an unconfirmed charge. */
export function ResolveDialog({ hold, onClose }: { hold: HoldView; onClose: () => void }) {
  const trpc = useTRPC();
  const [outcome, setOutcome] = useState("charged");
  const resolve = useAction(trpc.budgets.resolve.mutationOptions(), {
    done: "Charge resolved",
    refresh: [trpc.budgets.pathKey()],
    isInPlace: true,
  });
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title="Resolve charge"
      description={`${dollars(hold.amountMicros)} is reserved. The sealed receipt does not change. This cannot be undone.`}
      action={resolve}
      send={(sent) =>
        resolve.mutate({
          hold_id: hold.holdId,
          note: sent.text("note"),
          ...(outcome === "charged"
            ? { chargedMicros: sent.requiredMicros("chargedMicros") }
            : { notCharged: true }),
        })
      }
      submit="Resolve charge"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField
          name="outcome"
          label="Outcome"
          value={outcome}
          onValueChange={setOutcome}
          options={OUTCOMES}
        />
        {outcome === "charged" && (
          <MoneyField
            name="chargedMicros"
            label="Total charge in US dollars"
            bounds={SOME_AMOUNT}
            required
            micros={hold.amountMicros}
          />
        )}
      </div>
      <TextField name="note" label="Evidence" required maxLength={1000} />
    </FormDialog>
  );
}
