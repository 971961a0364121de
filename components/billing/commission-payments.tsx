"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { formatMoney } from "@/components/blocks/money/money";
import { requestHref } from "@/components/requests/list-state";
import { Ago } from "@/components/time/moment";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { PaidCommission } from "@/server/contract/commissions";
import { TestMoneyBadge } from "./test-money";

/** Commission payments and their refunds. They are not transactions, since they never touch the wallet. */
export function CommissionPayments({ organizationId }: { organizationId: string }) {
  const trpc = useTRPC();
  const paid = useInfiniteQuery(
    trpc.billing.commissions.infiniteQueryOptions(
      { organizationId },
      { getNextPageParam: (page) => page.nextCursor ?? null },
    ),
  );
  const items = paid.data?.pages.flatMap((page) => page.items) ?? [];
  if (items.length === 0 && !paid.error) return null;
  return (
    <Section
      id="commissions-title"
      title="Commission payments"
      hint="Paid at checkout. They don't affect the wallet."
      isFlush
      className="mt-6"
    >
      {paid.error && (
        <div className="p-4">
          <Notice tone="bad" role="alert">
            {sentencesOf(paid.error)}
          </Notice>
        </div>
      )}
      <ul aria-labelledby="commissions-title" className="divide-y divide-line">
        {items.map((item) => (
          <Payment key={item.paymentId} item={item} />
        ))}
      </ul>
      {paid.hasNextPage && (
        <div className="border-t border-line p-3 text-center">
          <Button pending={paid.isFetchingNextPage} onClick={() => paid.fetchNextPage()}>
            Show earlier payments
          </Button>
        </div>
      )}
    </Section>
  );
}

function Payment({ item }: { item: PaidCommission }) {
  const { amount, tax, refunded } = item;
  const paid = { ...amount, amountMicros: -(amount.amountMicros + tax.amountMicros) };
  return (
    <li
      className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 px-4 py-3 text-sm"
      data-commission={item.paymentId}
    >
      <div className="min-w-0 flex-1 basis-56 space-y-1">
        <Link
          href={requestHref(item.projectId, item.requestId)}
          prefetch={false}
          dir="auto"
          className="line-clamp-2 rounded text-left font-medium [overflow-wrap:anywhere] hover:underline"
        >
          {item.summary}
        </Link>
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
          <Standing item={item} />
          {item.test && <TestMoneyBadge />}
          <span>
            {item.startedBy && `${item.startedBy}, `}
            <Ago at={item.paidAt ?? item.createdAt} />
          </span>
        </p>
      </div>
      <div className="ml-auto text-right tabular-nums">
        <p>{formatMoney(paid)}</p>
        {tax.amountMicros > 0 && <p className="text-xs text-muted">Includes {formatMoney(tax)} tax</p>}
        {refunded.amountMicros > 0 && (
          <p className="font-medium text-good">+{formatMoney(refunded)} refunded</p>
        )}
      </div>
    </li>
  );
}

function Standing({ item }: { item: PaidCommission }) {
  const [tone, label] = standingOf(item);
  return (
    <Badge tone={tone} data-refund={item.refund?.state}>
      {label}
    </Badge>
  );
}

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
