"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/trpc";
import { SOME_AMOUNT } from "@/components/ui/amount";
import type { BudgetView } from "@/server/contract/budgets";

const HOUR_MS = 3_600_000;
const LENGTHS = [
  { value: "1", label: "1 hour" },
  { value: "24", label: "1 day" },
  { value: "168", label: "1 week" },
  { value: "720", label: "30 days" },
];

type Props = { budget: BudgetView; name: string; onClose(): void };

/** Increases the limit of a budget for some time. */
export function IncreaseDialog({ budget: { budgetId }, name, onClose }: Props) {
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
