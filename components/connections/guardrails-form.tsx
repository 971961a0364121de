"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { MoneyField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import type { ConnectionDetail } from "@/server/contract/connections";

/** Sets the spending limits of one connection, at list price. */
export function SetLimits({ connection, name }: { connection: ConnectionDetail; name: string }) {
  const trpc = useTRPC();
  const save = useAction(trpc.connections.setGuardrails.mutationOptions(), {
    isInPlace: true,
    done: "Limits saved",
    refresh: [trpc.connections.pathKey()],
  });
  const { dailyMicros, perExecutionMicros } = connection.userGuardrails;
  return (
    <FormDialog
      title={`Limits for ${name}`}
      description="Spending limits for this account, at list price. Executions above a limit are refused before anything is sent."
      trigger={
        <Button size="sm" variant="ghost" aria-label={`Set limits for ${name}`}>
          Set limits
        </Button>
      }
      action={save}
      send={(sent) =>
        save.mutate({
          connection_id: connection.id,
          dailyMicros: sent.micros("dailyMicros"),
          perExecutionMicros: sent.micros("perExecutionMicros"),
        })
      }
      submit="Save limits"
    >
      <MoneyField
        name="dailyMicros"
        label="Daily limit in US dollars (UTC day)"
        placeholder="No limit"
        micros={dailyMicros}
      />
      <MoneyField
        name="perExecutionMicros"
        label="Limit per execution in US dollars"
        placeholder="No limit"
        micros={perExecutionMicros}
      />
      {connection.spend && (
        <p className="text-xs text-muted">
          Today: {dollars(connection.spend.settledMicros)} spent, {dollars(connection.spend.heldMicros)}{" "}
          reserved.
        </p>
      )}
    </FormDialog>
  );
}
