"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import { column } from "@/components/blocks/list/columns";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { WorkCell } from "@/components/blocks/work/work";
import { comparisonHref } from "@/components/comparisons/list-state";
import { useTRPC } from "@/components/data/trpc";
import { useIsTest } from "@/components/shell/mode";
import { CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { shortId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import type { PagePosition } from "@/components/ui/paging";
import type { WalletTransaction } from "@/server/contract/billing";
import type { OfWork } from "@/server/contract/work";
import { billingHref, newestFirst, transactionsQuery } from "./billing-state";

const KINDS: Record<string, string> = {
  top_up: "Top-up",
  refund: "Refund",
  refund_failed: "Refund failed",
  dispute_won: "Dispute won",
  grant: "Credit",
  charge: "Charge",
  overrun: "Overrun",
  adjustment: "Adjustment",
};

type Props = { organizationId: string; place: PagePosition };

/** The transactions of the wallets and allowances, newest first. */
export function TransactionLog({ organizationId, place }: Props) {
  const trpc = useTRPC();
  const isTest = useIsTest();
  const { data } = useSuspenseQuery(
    trpc.billing.transactions.queryOptions(transactionsQuery(organizationId, place, isTest)),
  );
  return (
    <section aria-labelledby="transactions-title" className="mt-6">
      <ListTable
        noun="transactions"
        header={
          <CardHeader
            id="transactions-title"
            title="Transactions"
            hint={`Immutable ledger of ${isTest ? "test balance" : "balance"} and allowance.`}
          />
        }
        page={{ ...data, items: newestFirst(data.items, ({ createdAt }) => createdAt) }}
        state={place}
        hrefOf={(page) => billingHref({ organizationId, ...page })}
        first={
          <EmptyState icon={ReceiptText} title={`No ${isTest ? "test" : "live"} transactions yet`}>
            Charges and top-ups appear here.
          </EmptyState>
        }
        label="Transactions, newest first"
        idOf={({ entryId }) => entryId}
        marks={({ kind }) => ({ "data-entry": kind })}
        columns={COLUMNS}
      />
    </section>
  );
}

const COLUMNS: TableColumn<OfWork<WalletTransaction>>[] = [
  column.title("Transaction", (item) => (
    <WorkCell work={item.work} otherwise={KINDS[item.kind] ?? item.kind}>
      <Reference item={item} />
    </WorkCell>
  )),
  {
    header: "Source",
    className: "text-muted",
    cell: ({ account }) => (account === "wallet" ? "Wallet" : "Allowance"),
  },
  column.amount("Amount", ({ amount }) => (
    <span className={cn(amount.amountMicros > 0 && "font-medium text-good")}>
      <Amount of={amount} sign />
    </span>
  )),
  column.ago("Date", ({ createdAt }) => createdAt),
];

function Reference({ item }: { item: WalletTransaction }) {
  const { jobId, comparisonId, projectId } = item;
  const to = jobId
    ? { id: jobId, href: `/jobs/${jobId}` }
    : comparisonId && projectId && { id: comparisonId, href: comparisonHref(projectId, comparisonId) };
  if (to) return <RowLink {...to} />;
  return (
    <code title={item.paymentId ?? item.transactionId}>{shortId(item.paymentId ?? item.transactionId)}</code>
  );
}
