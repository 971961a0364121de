"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { LimitField } from "@/components/budgets/limit-field";
import { dollars, microsOf } from "@/components/budgets/words";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ConnectionDetail } from "@/server/contract/connections";

/** What one connection may spend, at list price. */
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
    const given = (name: string) => (fields.get(name) === "" ? null : microsOf(fields.get(name)));
    save.mutate({
      connection_id: connection.id,
      dailyMicros: given("daily"),
      perExecutionMicros: given("perExecution"),
    });
  }
  const { dailyMicros, perExecutionMicros } = connection.userGuardrails;
  return (
    <DialogContent
      title={`Limits of ${title}`}
      description="What may run on this account, at list price. Executions above a limit are refused before anything is sent."
    >
      <form onSubmit={submit} className="space-y-4">
        {save.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(save.error)}
          </Notice>
        )}
        <LimitField id="limit-daily" name="daily" label="Each day (UTC), US dollars" micros={dailyMicros} />
        <LimitField
          id="limit-perExecution"
          name="perExecution"
          label="One execution, US dollars"
          micros={perExecutionMicros}
        />
        {connection.spend && (
          <p className="text-xs text-muted">
            Today {dollars(connection.spend.settledMicros)} spent and {dollars(connection.spend.heldMicros)}{" "}
            held.
          </p>
        )}
        <SubmitActions pending={save.isPending}>Save limits</SubmitActions>
      </form>
    </DialogContent>
  );
}
