"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { toFailure, useTRPC } from "@/components/trpc";
import { sentAmount } from "@/components/ui/amount";
import { AmountField } from "@/components/ui/amount-field";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { Guardrails } from "@/server/contract/budgets";
import { dollars } from "./words";

const shown = (micros: number | null) => (micros === null ? "No limit" : dollars(micros));

/** Safety limits for jobs on the organization's own provider accounts. */
export function GuardrailCard({ projectId, canSet }: { projectId: string; canSet: boolean }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.budgets.guardrails.queryOptions({ project_id: projectId }));
  return (
    <Card aria-labelledby="guardrails-title" className="mt-4">
      <CardHeader
        id="guardrails-title"
        title="Own provider accounts"
        hint="Spending limits for the whole organization, at list price"
      />
      <CardBody>
        {canSet ? (
          <GuardrailForm key={`${data.dailyMicros} ${data.perExecutionMicros}`} guardrails={data} />
        ) : (
          <Facts>
            <Fact name="Daily">{shown(data.dailyMicros)}</Fact>
            <Fact name="Per execution">{shown(data.perExecutionMicros)}</Fact>
          </Facts>
        )}
      </CardBody>
    </Card>
  );
}

function GuardrailForm({ guardrails }: { guardrails: Guardrails }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const save = useMutation(
    trpc.budgets.changeGuardrails.mutationOptions({
      onSuccess: () => toast.success("Limits saved"),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.budgets.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    save.mutate({
      organizationId: guardrails.organizationId,
      dailyMicros: sentAmount(fields, "daily"),
      perExecutionMicros: sentAmount(fields, "perExecution"),
    });
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {save.error && (
        <Notice tone="bad" role="alert">
          {toFailure(save.error).message}
        </Notice>
      )}
      <div className="grid gap-4 sm:grid-cols-[13rem_13rem]">
        <AmountField
          id="guardrail-daily"
          name="daily"
          label="Daily limit in US dollars"
          placeholder="No limit"
          micros={guardrails.dailyMicros}
        />
        <AmountField
          id="guardrail-perExecution"
          name="perExecution"
          label="Limit per execution in US dollars"
          placeholder="No limit"
          micros={guardrails.perExecutionMicros}
        />
      </div>
      <Button type="submit" pending={save.isPending}>
        Save limits
      </Button>
    </form>
  );
}
