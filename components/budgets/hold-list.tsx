"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { ChoiceField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { Capped } from "@/components/blocks/list/capped";
import { column } from "@/components/blocks/list/columns";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { dollars } from "@/components/blocks/money/money";
import { WorkCell } from "@/components/blocks/work/work";
import { Caller } from "@/components/callers/caller";
import { comparisonHref } from "@/components/comparisons/list-state";
import { useTRPC } from "@/components/data/trpc";
import { SOME_AMOUNT } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CardBody, Section } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { HoldView } from "@/server/contract/budgets";
import type { OfWork } from "@/server/contract/work";
import type { OwnerNames } from "./owner-name";
import { holdsQuery } from "./queries";
import { ResolveAllDialog } from "./resolve-all-dialog";

const REFRESH_MS = 5_000;

type Props = OwnerNames & { isTest: boolean; canResolve: boolean };

/** The funds reserved by unfinished jobs. An owner resolves unconfirmed charges here. */
export function HoldList({ projectId, keyNames, isTest, canResolve }: Props) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<HoldView | null>(null);
  const asked = (state: "open" | "ambiguous") =>
    trpc.budgets.holds.queryOptions(holdsQuery(projectId, isTest, state));
  // Each kind has its own page of rows, so that many reservations cannot hide an unconfirmed charge.
  const { data: unconfirmed } = useLive(asked("ambiguous"), REFRESH_MS);
  const { data: open } = useLive(asked("open"), REFRESH_MS);
  const holds = [...unconfirmed.items, ...open.items];
  const unknown = unconfirmed.items.length;
  const [first] = unconfirmed.items;
  const resolveOf = (hold: HoldView) =>
    hold.state === "ambiguous" &&
    canResolve &&
    !isComparison(hold) && (
      <Button size="sm" aria-label={`Resolve charge of ${hold.executionId}`} onClick={() => setChosen(hold)}>
        Resolve
      </Button>
    );
  return (
    <Section
      title="Reserved funds"
      hint={
        unknown > 0
          ? `${unknown}${unconfirmed.nextCursor ? "+" : ""} with unconfirmed charges`
          : "By unfinished jobs"
      }
      actions={
        canResolve &&
        first &&
        unknown > 1 && (
          <ResolveAllDialog projectId={projectId} organizationId={first.organizationId} isTest={isTest} />
        )
      }
      isFlush
      className="mt-4"
    >
      {holds.length === 0 ? (
        <CardBody className="text-sm text-muted">No reserved funds.</CardBody>
      ) : (
        <Capped rows={holds}>
          {(rows) => (
            <ResourceTable
              label="Reserved funds"
              rows={rows}
              idOf={({ holdId }) => holdId}
              columns={columnsOf({ projectId, keyNames })}
              actions={resolveOf}
            />
          )}
        </Capped>
      )}
      {chosen && <ResolveDialog hold={chosen} onClose={() => setChosen(null)} />}
    </Section>
  );
}

const columnsOf = ({ projectId, keyNames }: OwnerNames): TableColumn<OfWork<HoldView>>[] => [
  column.title("Job", (hold) => (
    <WorkCell work={hold.work} otherwise={hold.capabilityKey ?? "Comparison"}>
      <Link href={hrefOf(hold)} title={hold.executionId} className="font-mono text-link hover:underline">
        {shortId(hold.executionId)}
      </Link>
    </WorkCell>
  )),
  column.amount("Amount", ({ amountMicros }) => <Amount of={amountMicros} />),
  column.status(({ state }) =>
    state === "ambiguous" ? (
      <Badge tone="warn">Unconfirmed charge</Badge>
    ) : (
      <Badge tone="busy">Reserved</Badge>
    ),
  ),
  {
    header: "Caller",
    className: "max-w-40 truncate",
    cell: ({ principalId }) => (
      <span title={principalId}>
        <Caller projectId={projectId} id={principalId} name={keyNames.get(principalId)} isPlain />
      </span>
    ),
  },
  column.ago("Created", ({ createdAt }) => createdAt),
];

/**
 * An unjudged comparison is listed as one hold for all entries; unconfirmed charges are resolved per entry after the
 * judgement.
 */
const isComparison = ({ executionId }: HoldView) => executionId.startsWith("cmp_");

const hrefOf = (hold: HoldView) =>
  isComparison(hold) ? comparisonHref(hold.projectId, hold.executionId) : `/jobs/${hold.executionId}`;

const OUTCOMES = [
  { value: "charged", label: "Charged" },
  { value: "not", label: "Not charged" },
];

/** A person records the outcome of an unconfirmed charge. */
function ResolveDialog({ hold, onClose }: { hold: HoldView; onClose: () => void }) {
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
