"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { column } from "@/components/blocks/list/columns";
import { GrowingList } from "@/components/blocks/list/growing-list";
import { ResourceTable, RowLink, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { formatMoney } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { requestHref } from "@/components/requests/list-state";
import { Badge, type Tone } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import type { PaidCommission } from "@/server/contract/commissions";
import { newestFirst } from "./billing-state";
import { TEST_MONEY } from "./test-money";

/** Commission payments and their refunds. They are not transactions, since they never touch the wallet. */
export function CommissionPayments({ organizationId }: { organizationId: string }) {
  const trpc = useTRPC();
  const paid = useInfiniteQuery(
    trpc.billing.commissions.infiniteQueryOptions(
      { organizationId },
      { getNextPageParam: (page) => page.nextCursor ?? null },
    ),
  );
  const items = newestFirst(paid.data?.pages.flatMap((page) => page.items) ?? [], shownAt);
  if (items.length === 0 && !paid.error) return null;
  return (
    <Section
      title="Commission payments"
      hint="Paid at checkout. They don't affect the wallet."
      isFlush
      className="mt-6"
    >
      <GrowingList what="commission payments" query={paid} rows={items} empty="No payments yet.">
        {(rows) => (
          <ResourceTable
            label="Commission payments, newest first"
            rows={rows}
            idOf={({ paymentId }) => paymentId}
            marks={({ paymentId }) => ({ "data-commission": paymentId })}
            columns={COLUMNS}
          />
        )}
      </GrowingList>
    </Section>
  );
}

const shownAt = ({ paidAt, createdAt }: PaidCommission) => paidAt ?? createdAt;

const COLUMNS: TableColumn<PaidCommission>[] = [
  column.title("Commission", ({ summary, projectId, requestId, startedBy, test }) => (
    <Titled
      title={
        <RowLink href={requestHref(projectId, requestId)} id={requestId}>
          {summary}
        </RowLink>
      }
    >
      <span>{[startedBy, test && TEST_MONEY].filter(Boolean).join(", ")}</span>
    </Titled>
  )),
  column.status((item) => {
    const [tone, label] = standingOf(item);
    return (
      <Badge tone={tone} data-refund={item.refund?.state}>
        {label}
      </Badge>
    );
  }),
  column.amount("Amount", ({ amount, tax, refunded }) => (
    <Amount
      of={{ ...amount, amountMicros: -(amount.amountMicros + tax.amountMicros) }}
      note={[
        tax.amountMicros > 0 && `Includes ${formatMoney(tax)} tax`,
        refunded.amountMicros > 0 && `+${formatMoney(refunded)} refunded`,
      ]
        .filter(Boolean)
        .join(", ")}
    />
  )),
  column.ago("Paid", shownAt),
];

/** The status of a commission payment. */
export function standingOf({
  state,
  refund,
  refunded,
  amount,
  tax,
}: Pick<PaidCommission, "state" | "refund" | "refunded" | "amount" | "tax">): [Tone, string] {
  if (state === "processing") return ["busy", "Processing"];
  if (refunded.amountMicros >= amount.amountMicros + tax.amountMicros) return ["neutral", "Refunded"];
  if (refund?.state === "failed") return ["bad", "Refund failed"];
  if (refund) return ["busy", "Refund in progress"];
  return refunded.amountMicros > 0 ? ["neutral", "Partly refunded"] : ["good", "Paid"];
}
