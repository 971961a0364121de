"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { dollars } from "@/components/budgets/words";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { sentAmount } from "@/components/ui/amount";
import { AmountField } from "@/components/ui/amount-field";
import { DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ConnectionDetail } from "@/server/contract/connections";

/** The spending limits of one connection, at list price. */
export function GuardrailsForm({
  connection,
  title,
  onDone,
}: {
  connection: ConnectionDetail;
  title: string;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const save = useMutation(
    trpc.connections.setGuardrails.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: () => {
        toast.success("Limits saved");
        onDone();
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.connections.pathKey() }),
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    save.mutate({
      connection_id: connection.id,
      dailyMicros: sentAmount(fields, "daily"),
      perExecutionMicros: sentAmount(fields, "perExecution"),
    });
  }
  const { dailyMicros, perExecutionMicros } = connection.userGuardrails;
  return (
    <DialogContent
      title={`Limits for ${title}`}
      description="Spending limits for this account, at list price. Executions above a limit are refused before anything is sent."
    >
      <form onSubmit={submit} className="space-y-4">
        {save.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(save.error)}
          </Notice>
        )}
        <AmountField
          id="limit-daily"
          name="daily"
          label="Daily limit in US dollars (UTC day)"
          placeholder="No limit"
          micros={dailyMicros}
        />
        <AmountField
          id="limit-perExecution"
          name="perExecution"
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
        <SubmitActions pending={save.isPending}>Save limits</SubmitActions>
      </form>
    </DialogContent>
  );
}
