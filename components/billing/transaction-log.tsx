"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { formatMoney } from "@/components/blocks/money/money";
import { WORK_COLUMN, WorkCell } from "@/components/blocks/work/work";
import { comparisonHref } from "@/components/comparisons/list-state";
import { OtherMode, useIsTest } from "@/components/shell/mode";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { Place } from "@/components/ui/paging";
import type { WalletTransaction } from "@/server/contract/billing";
import type { OfWork } from "@/server/contract/work";
import { billingHref, transactionsQuery } from "./billing-state";

const KINDS: Record<string, string> = {
  top_up: "Top-up",
  refund: "Refund",
  refund_failed: "Refund failed",
  grant: "Credit",
  charge: "Charge",
  overrun: "Overrun",
  adjustment: "Adjustment",
};

type Props = { organizationId: string; place: Place };

/** The transactions of the wallets and allowances, newest first. */
export function TransactionLog({ organizationId, place }: Props) {
  const trpc = useTRPC();
  const isTest = useIsTest();
  const { data } = useSuspenseQuery(
    trpc.billing.transactions.queryOptions(transactionsQuery(organizationId, place, isTest)),
  );
  return (
    <section aria-labelledby="transactions-title" className="mt-6">
      <ListCard
        noun="transactions"
        header={
          <CardHeader
            id="transactions-title"
            title="Transactions"
            hint={`Immutable ledger of ${isTest ? "test balance" : "balance"} and allowance.`}
          />
        }
        page={data}
        state={place}
        hrefOf={(page) => billingHref({ organizationId, ...page })}
        first={
          <EmptyState
            icon={ReceiptText}
            title={`No ${isTest ? "test" : "live"} transactions yet`}
            action={<OtherMode has>{(other) => `${other} transactions are listed apart.`}</OtherMode>}
          >
            Charges and top-ups appear here.
          </EmptyState>
        }
      >
        <ResourceTable
          label="Transactions, newest first"
          rows={data.items}
          idOf={({ entryId }) => entryId}
          marks={({ kind }) => ({ "data-entry": kind })}
          columns={COLUMNS}
        />
      </ListCard>
    </section>
  );
}

const COLUMNS: Column<OfWork<WalletTransaction>>[] = [
  {
    header: "Transaction",
    card: "title",
    className: WORK_COLUMN,
    cell: (item) => (
      <WorkCell work={item.work} otherwise={KINDS[item.kind] ?? item.kind}>
        <Reference item={item} />
      </WorkCell>
    ),
  },
  {
    header: "Source",
    className: "text-muted",
    cell: ({ account }) => (account === "wallet" ? "Wallet" : "Allowance"),
  },
  { header: "Amount", align: "end", card: "status", cell: (item) => <Amount item={item} /> },
  {
    header: "Date",
    align: "end",
    className: "text-muted",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];

function Reference({ item }: { item: WalletTransaction }) {
  const { jobId, comparisonId, projectId } = item;
  const to = jobId
    ? { id: jobId, href: `/jobs/${jobId}` }
    : comparisonId && projectId && { id: comparisonId, href: comparisonHref(projectId, comparisonId) };
  const look = "rounded font-mono text-xs [overflow-wrap:anywhere]";
  if (!to) return <span className={look}>{item.paymentId ?? item.transactionId}</span>;
  return (
    <Link href={to.href} prefetch={false} className={cn(look, "text-link hover:underline")}>
      {to.id}
    </Link>
  );
}

function Amount({ item }: { item: WalletTransaction }) {
  const isIn = item.amount.amountMicros > 0;
  return (
    <span className={cn("tabular-nums", isIn && "font-medium text-good")}>
      {isIn && "+"}
      {formatMoney(item.amount)}
    </span>
  );
}
