"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import Link from "next/link";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Card, CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import { Pagination } from "@/components/ui/pagination";
import type { Place } from "@/components/ui/paging";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { WalletTransaction } from "@/server/contract/billing";
import { billingHref, transactionsQuery } from "./billing-state";
import { formatMoney } from "./format-money";
import { TestMoneyBadge } from "./test-money";

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
  const { data } = useSuspenseQuery(
    trpc.billing.transactions.queryOptions(transactionsQuery(organizationId, place)),
  );
  return (
    <section aria-labelledby="transactions-title" className="mt-6">
      <Card className="overflow-hidden">
        <CardHeader
          id="transactions-title"
          title="Transactions"
          hint="Immutable ledger of balance and allowance."
        />
        {data.items.length === 0 ? (
          <EmptyState
            icon={ReceiptText}
            title={place.cursor ? "No older transactions" : "No transactions yet"}
          >
            {place.cursor ? "This is the end of the list." : "Charges and top-ups appear here."}
          </EmptyState>
        ) : (
          <Entries items={data.items} />
        )}
      </Card>
      <Pagination
        label="Pages of transactions"
        state={place}
        nextCursor={data.nextCursor}
        hrefOf={(page) => billingHref({ organizationId, ...page })}
        className="mt-4"
      />
    </section>
  );
}

function Entries({ items }: { items: WalletTransaction[] }) {
  return (
    <>
      <div className="hidden md:block">
        <Table>
          <caption className="sr-only">Transactions, newest first</caption>
          <thead>
            <tr>
              <TableHead>Type</TableHead>
              <TableHead>Source</TableHead>
              <TableHead>Reference</TableHead>
              <TableHead className="text-right">Amount</TableHead>
              <TableHead className="text-right">Date</TableHead>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <TableRow key={item.entryId} data-entry={item.kind}>
                <TableCell className="font-medium">{KINDS[item.kind] ?? item.kind}</TableCell>
                <TableCell>
                  <Account item={item} />
                </TableCell>
                <TableCell>
                  <Subject item={item} />
                </TableCell>
                <TableCell className="text-right">
                  <Amount item={item} />
                </TableCell>
                <TableCell className="text-right text-muted">
                  <Ago at={item.createdAt} />
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label="Transactions, newest first" className="divide-y divide-line md:hidden">
        {items.map((item) => (
          <li key={item.entryId} className="space-y-1 px-4 py-3">
            <div className="flex items-center justify-between gap-2 text-sm">
              <span className="font-medium">{KINDS[item.kind] ?? item.kind}</span>
              <Amount item={item} />
            </div>
            <div className="flex items-center justify-between gap-2 text-xs text-muted">
              <Account item={item} />
              <Ago at={item.createdAt} />
            </div>
            <Subject item={item} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Account({ item }: { item: WalletTransaction }) {
  return (
    <span className="inline-flex items-center gap-2">
      <span className="text-muted">{item.account === "wallet" ? "Wallet" : "Allowance"}</span>
      {item.test && <TestMoneyBadge />}
    </span>
  );
}

function Subject({ item }: { item: WalletTransaction }) {
  if (item.jobId)
    return (
      <Link
        href={`/jobs/${item.jobId}`}
        prefetch={false}
        className="rounded font-mono text-xs [overflow-wrap:anywhere] text-link hover:underline"
      >
        {item.jobId}
      </Link>
    );
  if (item.comparisonId && item.projectId)
    return (
      <Link
        href={comparisonHref(item.projectId, item.comparisonId)}
        prefetch={false}
        className="rounded font-mono text-xs [overflow-wrap:anywhere] text-link hover:underline"
      >
        {item.comparisonId}
      </Link>
    );
  return (
    <span className="font-mono text-xs [overflow-wrap:anywhere] text-muted">
      {item.paymentId ?? item.transactionId}
    </span>
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
