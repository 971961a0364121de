"use client";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useTransition } from "react";
import { recordHref } from "@/components/pins/list-state";
import { ITEM_LOOK, PinStatusBadge } from "@/components/pins/pin-status";
import { Card, CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { shortId } from "@/components/ui/copyable-id";
import { Pagination } from "@/components/ui/pagination";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { BulkItemStatus, type BulkItemView, type PinnedBulk } from "@/server/contract/pinned";
import { ITEM_ORDER } from "./bulk-bar";
import { type ItemState, itemsHref } from "./bulk-state";

const ANY = "any"; // a select cannot hold an empty value

/** The items of a bulk in input order, paged, each with a link to its record. */
export function BulkItems({
  bulk,
  projectId,
  state,
}: {
  bulk: PinnedBulk;
  projectId: string;
  state: ItemState;
}) {
  return (
    <section aria-labelledby="items-title" className="space-y-4">
      <Card className="overflow-hidden">
        <CardHeader
          title="Items"
          id="items-title"
          actions={<StatusFilter bulk={bulk} projectId={projectId} state={state} />}
        />
        {bulk.items.length === 0 ? (
          <p className="px-4 py-10 text-center text-sm text-muted">
            {state.status
              ? `No ${ITEM_LOOK[state.status].label.toLowerCase()} items.`
              : "There are no items on this page."}
          </p>
        ) : (
          <>
            <ItemTable items={bulk.items} projectId={projectId} />
            <ItemCards items={bulk.items} projectId={projectId} />
          </>
        )}
      </Card>
      <Pagination
        label="Pages of items"
        back="Previous"
        on="Next"
        state={state}
        nextCursor={bulk.nextCursor}
        hrefOf={(page) => itemsHref(projectId, bulk.bulkId, page)}
      />
    </section>
  );
}

function StatusFilter({ bulk, projectId, state }: { bulk: PinnedBulk; projectId: string; state: ItemState }) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const pick = (value: string) => {
    const status = BulkItemStatus.safeParse(value).data;
    startTransition(() => router.push(itemsHref(projectId, bulk.bulkId, { status }), { scroll: false }));
  };
  return (
    <search
      aria-label="Filter items"
      aria-busy={isPending}
      className={cn("transition-opacity", isPending && "opacity-60")}
    >
      <Select value={state.status ?? ANY} onValueChange={pick}>
        <SelectTrigger aria-label="Status" className="h-7 w-auto min-w-36 text-xs" />
        <SelectContent>
          <SelectItem value={ANY}>Any status</SelectItem>
          {ITEM_ORDER.map((status) => (
            <SelectItem key={status} value={status}>
              {ITEM_LOOK[status].label}, {bulk.counts[status].toLocaleString("en-US")}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
    </search>
  );
}

type ListProps = { items: BulkItemView[]; projectId: string };

function ItemTable({ items, projectId }: ListProps) {
  return (
    <div className="hidden md:block">
      <Table>
        <caption className="sr-only">Items in input order</caption>
        <thead>
          <tr>
            <TableHead className="w-36">Status</TableHead>
            <TableHead>Item</TableHead>
            <TableHead>Error</TableHead>
            <TableHead>Retry</TableHead>
            <TableHead className="text-right">Record</TableHead>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <TableRow key={item.id} className="relative">
              <TableCell>
                <PinStatusBadge status={item.status} />
              </TableCell>
              <TableCell className="max-w-56 truncate font-medium" title={item.id}>
                {item.id}
              </TableCell>
              <TableCell className="max-w-80">
                <ItemError item={item} />
              </TableCell>
              <TableCell className="text-xs whitespace-nowrap text-muted">
                <Again item={item} />
              </TableCell>
              <TableCell className="text-right">
                <ItemLink item={item} projectId={projectId} />
              </TableCell>
            </TableRow>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

function ItemCards({ items, projectId }: ListProps) {
  return (
    <ul aria-label="Items in input order" className="divide-y divide-line md:hidden">
      {items.map((item) => (
        <li key={item.id} className="relative space-y-1.5 px-4 py-3">
          <div className="flex items-center justify-between gap-2">
            <PinStatusBadge status={item.status} />
            <ItemLink item={item} projectId={projectId} />
          </div>
          <div className="truncate text-sm font-medium">{item.id}</div>
          <ItemError item={item} />
          <p className="text-xs text-muted empty:hidden">
            <Again item={item} />
          </p>
        </li>
      ))}
    </ul>
  );
}

function ItemError({ item: { error, status } }: { item: BulkItemView }) {
  if (!error) return null;
  return (
    <span className="block text-xs" title={error.message}>
      <code className={cn(status === "failed" ? "text-bad" : "text-warn")}>{error.code}</code>
      <span className="block truncate text-muted">{error.message}</span>
    </span>
  );
}

/** Whether an item that did not succeed is safe to retry; null for one that runs or succeeded. */
function Again({ item }: { item: BulkItemView }) {
  if (item.safelyRetryable) return "Safe to retry";
  if (item.status === "ambiguous") return "Not safe to retry: it may have run";
  return item.status === "failed" ? "Not safe to retry: it ran" : null;
}

/** The link covers its whole row. */
function ItemLink({ item, projectId }: { item: BulkItemView; projectId: string }) {
  if (!item.receiptId) return null;
  return (
    <Link
      href={recordHref(projectId, item.receiptId)}
      title={item.receiptId}
      className="rounded font-mono text-xs whitespace-nowrap text-link after:absolute after:inset-0 hover:underline"
    >
      {shortId(item.receiptId)}
    </Link>
  );
}
