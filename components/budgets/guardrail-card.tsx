"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { Form } from "@/components/blocks/form/form";
import { BudgetBar } from "@/components/blocks/money/budget-bar";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import type { Guardrails } from "@/server/contract/budgets";
import { LimitFields } from "./limit-fields";

const shown = (micros: number | null) => (micros === null ? "No limit" : dollars(micros));

/** Safety limits for jobs on the organization's own provider accounts. */
export function GuardrailCard({ projectId, canSet }: { projectId: string; canSet: boolean }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.budgets.guardrails.queryOptions({ project_id: projectId }));
  return (
    <Section
      title="Own provider accounts"
      hint="Spending limits for the whole organization, at list price"
      className="mt-4"
      bodyClassName="space-y-4"
    >
      {data.dailyMicros !== null && data.spend && (
        <BudgetBar name="Own provider accounts, daily" ceilingMicros={data.dailyMicros} spend={data.spend} />
      )}
      {canSet ? (
        <GuardrailForm key={`${data.dailyMicros} ${data.perExecutionMicros}`} guardrails={data} />
      ) : (
        <Facts>
          <Fact name="Daily">{shown(data.dailyMicros)}</Fact>
          <Fact name="Per execution">{shown(data.perExecutionMicros)}</Fact>
        </Facts>
      )}
    </Section>
  );
}

function GuardrailForm({ guardrails }: { guardrails: Guardrails }) {
  const trpc = useTRPC();
  const save = useAction(trpc.budgets.changeGuardrails.mutationOptions(), {
    done: "Limits saved",
    refresh: [trpc.budgets.pathKey()],
    isInPlace: true,
  });
  return (
    <Form
      action={save}
      send={(sent) =>
        save.mutate({
          organizationId: guardrails.organizationId,
          dailyMicros: sent.micros("dailyMicros"),
          perExecutionMicros: sent.micros("perExecutionMicros"),
        })
      }
      className="space-y-3"
    >
      <div className="grid gap-4 sm:grid-cols-[13rem_13rem]">
        <LimitFields limits={guardrails} />
      </div>
      <Button type="submit" pending={save.isPending}>
        Save limits
      </Button>
    </Form>
  );
}
