"use client";
import { Inbox } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { formatMoney } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { isRefundShown, RefundFailedBadge, RequestStatusBadge } from "@/components/requests/request-status";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { QueuedRequest } from "@/server/contract/requests";
import {
  operatorRequestHref,
  type QueueState,
  queueHref,
  REQUEST_QUEUE_VIEWS,
  type RequestQueueView,
  toQueueQuery,
  VIEW_NAMES,
} from "./list-state";

const LOOK_AGAIN_MS = 15_000;
const EMPTY: Record<RequestQueueView, { title: string; text: string }> = {
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
  const { data } = useLive(trpc.operator.queue.queryOptions(toQueueQuery(state)), LOOK_AGAIN_MS);
  const { label, order } = REQUEST_QUEUE_VIEWS[state.show];
  const words =
    order === "oldest"
      ? ({ back: "Older", on: "Newer" } as const)
      : ({ back: "Newer", on: "Older" } as const);
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-8 outline-none sm:px-6">
      <PageHeader title="Capability requests">Requests from customers, from review to delivery.</PageHeader>
      <QueueViews show={state.show} />
      <ListCard
        noun="requests"
        {...words}
        page={data}
        state={state}
        hrefOf={queueHref}
        first={
          <EmptyState icon={Inbox} title={EMPTY[state.show].title}>
            {EMPTY[state.show].text}
          </EmptyState>
        }
      >
        <ResourceTable
          label={`${label}, ${order} first`}
          rows={data.items}
          idOf={({ id }) => id}
          marks={({ id }) => ({ "data-request": id })}
          columns={COLUMNS}
        />
      </ListCard>
    </main>
  );
}

function QueueViews({ show }: { show: RequestQueueView }) {
  const { data: counts } = useLive(useTRPC().operator.counts.queryOptions(), LOOK_AGAIN_MS);
  return (
    <nav aria-label="Queue views" className="mb-4 flex flex-wrap gap-1.5">
      {VIEW_NAMES.map((view) => {
        const { label, count } = REQUEST_QUEUE_VIEWS[view];
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

const COLUMNS: TableColumn<QueuedRequest>[] = [
  {
    header: "Request",
    card: "title",
    className: "max-w-96",
    cell: ({ id, summary }) => (
      <Link
        href={operatorRequestHref(id)}
        title={summary}
        dir="auto"
        className="line-clamp-2 rounded font-medium [overflow-wrap:anywhere] after:absolute after:inset-0 hover:underline"
      >
        {summary}
      </Link>
    ),
  },
  {
    header: "From",
    className: "max-w-56",
    cell: ({ organizationName, projectName }) => (
      <>
        <span className="block truncate">{organizationName}</span>
        <span className="block truncate text-xs text-muted">{projectName}</span>
      </>
    ),
  },
  { header: "Status", card: "status", cell: (item) => <Standing item={item} /> },
  {
    header: "Price",
    align: "end",
    className: "whitespace-nowrap",
    cell: ({ price }) => price && formatMoney(price),
  },
  {
    header: "Submitted",
    align: "end",
    className: "text-muted",
    cell: ({ submittedAt, createdAt }) => <Ago at={submittedAt ?? createdAt} />, // null for a draft
  },
];

/** The state of a request, and a failed refund if the state does not show it, such as of a duplicate payment. */
const Standing = ({ item: { status, refund, hasFailedRefund } }: { item: QueuedRequest }) => (
  <span className="inline-flex flex-wrap items-center gap-1.5">
    <RequestStatusBadge status={status} refund={refund} />
    {hasFailedRefund && !isRefundShown(status, refund) && <RefundFailedBadge />}
  </span>
);
