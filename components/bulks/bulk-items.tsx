"use client";
import { column } from "@/components/blocks/list/columns";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn } from "@/components/blocks/list/resource-table";
import { Reason } from "@/components/blocks/status/reason";
import { recordHref } from "@/components/pins/list-state";
import { itemStatusLabel, PinStatusBadge } from "@/components/pins/pin-status";
import { CardHeader } from "@/components/ui/card";
import type { BulkItemView, PinnedBulk } from "@/server/contract/pinned";
import { ITEM_ORDER } from "./bulk-bar";
import { type ItemState, itemsHref } from "./bulk-state";

type Props = { bulk: PinnedBulk; projectId: string; state: ItemState };

/** The items of a bulk in input order, paged, each with a link to its record. */
export function BulkItems({ bulk, projectId, state }: Props) {
  const hrefOf = (next: ItemState) => itemsHref(projectId, bulk.bulkId, next);
  return (
    <section aria-labelledby="items-title">
      <ListTable
        noun="items"
        header={
          <CardHeader
            title="Items"
            id="items-title"
            actions={
              <FilterBar
                label="Filter items"
                state={state}
                hrefOf={hrefOf}
                fields={[{ name: "status", label: "Status", any: "Any status", options: optionsOf(bulk) }]}
              />
            }
          />
        }
        page={bulk}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={state.status !== undefined}
        first={null}
        back="Previous"
        on="Next"
        label="Items in input order"
        idOf={({ id }) => id}
        columns={columnsOf(projectId)}
      />
    </section>
  );
}

const optionsOf = ({ counts }: PinnedBulk) =>
  ITEM_ORDER.map((status) => ({
    value: status,
    label: `${itemStatusLabel(status)}, ${counts[status].toLocaleString("en-US")}`,
  }));

const columnsOf = (projectId: string): TableColumn<BulkItemView>[] => [
  column.status(({ status }) => <PinStatusBadge status={status} />),
  {
    header: "Item",
    card: "title",
    className: "max-w-56 truncate font-medium",
    cell: ({ id }) => <span title={id}>{id}</span>,
  },
  { header: "Error", className: "max-w-80", cell: (item) => <ItemError item={item} /> },
  { header: "Retry", className: "text-xs whitespace-nowrap text-muted", cell: retryWords },
  {
    header: "Record",
    align: "end",
    cell: ({ receiptId: id }) => id && <RowLink href={recordHref(projectId, id)} id={id} />,
  },
];

function ItemError({ item: { error, status } }: { item: BulkItemView }) {
  if (!error) return null;
  return (
    <span className="block text-xs" title={error.message}>
      <Reason code={error.code} className={status === "failed" ? "text-bad" : "text-warn"} />
      <span className="block truncate text-muted">{error.message}</span>
    </span>
  );
}

/** A text on whether an item is safe to retry; null for an item that is queued, running or succeeded. */
function retryWords(item: BulkItemView) {
  if (item.safelyRetryable) return "Safe to retry";
  if (item.status === "ambiguous") return "Not safe to retry: it may have run";
  return item.status === "failed" ? "Not safe to retry: it ran" : null;
}
