"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import type { FormValues } from "@/components/blocks/form/form-values";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import type { HoldsResolved } from "@/server/contract/budgets";

const OUTCOMES = [
  { value: "not_charged", label: "Not charged" },
  { value: "charged", label: "Charged in full" },
];
const ACCOUNTS = [
  { value: "all", label: "All" },
  { value: "managed", label: "Managed" },
  { value: "byok", label: "Own connections" },
];

type Props = { projectId: string; organizationId: string; isTest: boolean };

/**
 * Gives the matching unconfirmed charges of a project, either live or test, the same outcome, after showing how many match. A
 * large number needs several submissions.
 */
export function ResolveAllDialog({ projectId, organizationId, isTest }: Props) {
  const trpc = useTRPC();
  /** The counted charges; null once the form has changed and the count no longer applies. */
  const [counted, setCounted] = useState<HoldsResolved | null>(null);
  const change = () => setCounted(null);
  const count = useAction(trpc.budgets.resolveMany.mutationOptions(), {
    onDone: setCounted,
    isInPlace: true,
  });
  const resolve = useAction(trpc.budgets.resolveMany.mutationOptions(), {
    done: ({ resolved }) => `${resolved} resolved`,
    refresh: [trpc.budgets.pathKey()],
    isInPlace: true,
  });
  const bodyOf = (sent: FormValues) => {
    const account = sent.oneOf("account", ["all", "managed", "byok"]);
    return {
      filter: { organizationId, projectId, isTest, ...(account === "all" ? {} : { billingMode: account }) },
      outcome: sent.oneOf("outcome", ["not_charged", "charged"]),
      note: sent.text("note"),
    };
  };
  return (
    <FormDialog
      title="Resolve all charges"
      description={`Every unconfirmed ${isTest ? "test" : "live"} charge of this project that matches gets the same outcome. Sealed receipts do not change. This cannot be undone.`}
      trigger={<Button size="sm">Resolve all</Button>}
      onOpenChange={change}
      action={{
        ...resolve,
        isPending: count.isPending || resolve.isPending,
        error: count.error ?? resolve.error,
        reset() {
          count.reset();
          resolve.reset();
        },
      }}
      send={(sent) =>
        counted
          ? resolve.mutate({ ...bodyOf(sent), dryRun: false })
          : count.mutate({ ...bodyOf(sent), dryRun: true })
      }
      submit={counted ? "Resolve charges" : "Preview"}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField
          name="outcome"
          label="Outcome"
          defaultValue="not_charged"
          onValueChange={change}
          options={OUTCOMES}
        />
        <ChoiceField
          name="account"
          label="Account"
          defaultValue="all"
          onValueChange={change}
          options={ACCOUNTS}
        />
      </div>
      <TextField name="note" label="Evidence" required maxLength={1000} />
      {counted && <Counted counted={counted} />}
    </FormDialog>
  );
}

function Counted({ counted }: { counted: HoldsResolved }) {
  const { resolved, refused, reservedMicros, chargedMicros, nextCursor } = counted;
  return (
    <Notice tone="warn" role="status">
      <p>
        {resolved} {resolved === 1 ? "charge" : "charges"} will be resolved. {dollars(reservedMicros)} is
        reserved for them; {dollars(chargedMicros)} will be charged.
        {nextCursor && " More follow: resolve again for the rest."}
      </p>
      {refused > 0 && <p>{refused} can be resolved so by an operator only.</p>}
    </Notice>
  );
}
