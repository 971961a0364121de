"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import Link from "next/link";
import { formatMoney } from "@/components/billing/format-money";
import { isRefundTold, RefundFailedBadge, RequestStatusBadge } from "@/components/requests/request-status";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import { Pagination } from "@/components/ui/pagination";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { QueuedRequest } from "@/server/contract/requests";
import {
  type QueueState,
  queueHref,
  requestHref,
  toQueueQuery,
  VIEW_NAMES,
  VIEWS,
  type View,
} from "./list-state";

const LOOK_AGAIN_MS = 15_000;
const EMPTY: Record<View, { title: string; text: string }> = {
  waiting: { title: "No requests to review", text: "Requests appear here when customers submit them." },
  review: {
    title: "No requests in review",
    text: "Requests you open for review stay here until you respond.",
  },
  quoted: {
    title: "No open quotes",
    text: "Requests stay here until their quote is paid.",
  },
  paid: {
    title: "Nothing to deliver",
    text: "Paid requests stay here until you record what shipped.",
  },
  refunds: {
    title: "No failed refunds",
    text: "Requests stay here while the payment provider rejects their refund.",
  },
  all: {
    title: "No requests yet",
    text: "Requests from every organization appear here.",
  },
};

/** The capability requests of every organization, by their next step. */
export function RequestQueue({ state }: { state: QueueState }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.operator.queue.queryOptions(toQueueQuery(state)),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const { label, order } = VIEWS[state.show];
  const words =
    order === "oldest"
      ? ({ back: "Older", on: "Newer" } as const)
      : ({ back: "Newer", on: "Older" } as const);
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-8 outline-none sm:px-6">
      <PageHeader title="Capability requests">Requests from customers, from review to delivery.</PageHeader>
      <QueueViews show={state.show} />
      <Card className="overflow-hidden">
        {data.items.length > 0 ? (
          <Rows items={data.items} caption={`${label}, ${order} first`} />
        ) : state.cursor ? (
          <p className="px-4 py-10 text-center text-sm text-muted">No more requests.</p>
        ) : (
          <EmptyState icon={Inbox} title={EMPTY[state.show].title}>
            {EMPTY[state.show].text}
          </EmptyState>
        )}
      </Card>
      <Pagination
        label="Pages of requests"
        {...words}
        state={state}
        nextCursor={data.nextCursor}
        hrefOf={queueHref}
        className="mt-4"
      />
    </main>
  );
}

function QueueViews({ show }: { show: View }) {
  const { data: counts } = useSuspenseQuery({
    ...useTRPC().operator.counts.queryOptions(),
    refetchInterval: LOOK_AGAIN_MS,
  });
  return (
    <nav aria-label="Queue views" className="mb-4 flex flex-wrap gap-1.5">
      {VIEW_NAMES.map((view) => {
        const { label, count } = VIEWS[view];
        return (
          <Link
            key={view}
            href={queueHref({ show: view })}
            scroll={false}
            aria-current={view === show ? "page" : undefined}
            className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line bg-surface px-3 text-sm font-medium text-muted shadow-card hover:bg-hover hover:text-text aria-[current]:border-focus aria-[current]:bg-hover aria-[current]:text-text"
          >
            {label}
            {count && (
              <span
                className={cn(
                  "text-xs tabular-nums",
                  count === "refundFailed" && counts[count] > 0 && "font-semibold text-bad",
                )}
              >
                {counts[count]}
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

function Rows({ items, caption }: { items: QueuedRequest[]; caption: string }) {
  return (
    <>
      <div className="hidden md:block">
        <Table>
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              <TableHead>Request</TableHead>
              <TableHead>From</TableHead>
              <TableHead>Status</TableHead>
              <TableHead className="text-right">Price</TableHead>
              <TableHead className="text-right">Submitted</TableHead>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <TableRow key={item.id} className="relative" data-request={item.id}>
                <TableCell className="max-w-96">
                  <ToRequest item={item} className="block truncate" />
                </TableCell>
                <TableCell className="max-w-56">
                  <span className="block truncate">{item.organizationName}</span>
                  <span className="block truncate text-xs text-muted">{item.projectName}</span>
                </TableCell>
                <TableCell>
                  <Standing item={item} />
                </TableCell>
                <TableCell className="text-right whitespace-nowrap">
                  {item.price && formatMoney(item.price)}
                </TableCell>
                <TableCell className="text-right text-muted">
                  <Age item={item} />
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label={caption} className="divide-y divide-line md:hidden">
        {items.map((item) => (
          <li key={item.id} className="relative space-y-1.5 px-4 py-3" data-request={item.id}>
            <div className="flex items-center justify-between gap-2">
              <Standing item={item} />
              <span className="text-xs text-muted">
                <Age item={item} />
              </span>
            </div>
            <ToRequest item={item} className="line-clamp-3" />
            <p className="flex flex-wrap gap-x-2 text-xs text-muted [overflow-wrap:anywhere]">
              <span>
                {item.organizationName}, {item.projectName}
              </span>
              {item.price && <span className="text-text">{formatMoney(item.price)}</span>}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Its state, and a failed refund where the state does not show it, such as of a duplicate payment. */
const Standing = ({ item: { status, refund, hasFailedRefund } }: { item: QueuedRequest }) => (
  <span className="inline-flex flex-wrap items-center gap-1.5">
    <RequestStatusBadge status={status} refund={refund} />
    {hasFailedRefund && !isRefundTold(status, refund) && <RefundFailedBadge />}
  </span>
);

const ToRequest = ({ item, className }: { item: QueuedRequest; className: string }) => (
  <Link
    href={requestHref(item.id)}
    title={item.summary}
    dir="auto"
    className={`rounded text-sm font-medium [overflow-wrap:anywhere] after:absolute after:inset-0 hover:underline ${className}`}
  >
    {item.summary}
  </Link>
);

/** When it was submitted; null for a draft. */
const Age = ({ item }: { item: QueuedRequest }) => <Ago at={item.submittedAt ?? item.createdAt} />;
