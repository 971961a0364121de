"use client";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { column } from "@/components/blocks/list/columns";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import { FirstBulk } from "@/components/pins/first-pin";
import { bulkHref, bulksHref, type PinListPosition, toPinPageQuery } from "@/components/pins/list-state";
import { pinWords } from "@/components/pins/words";
import { PageHeader } from "@/components/shell/page-header";
import { Took } from "@/components/time/moment";
import type { PinnedBulk } from "@/server/contract/pinned";
import { BulkBar, endedOf } from "./bulk-bar";
import { BulkStatusBadge } from "./bulk-status";

type Listed = Omit<PinnedBulk, "items" | "nextCursor">;

type Props = { projectId: string; place: PinListPosition; baseUrl: string };

/** The bulks of a project with their progress, newest first. */
export function BulkHistory({ projectId, place, baseUrl }: Props) {
  const trpc = useTRPC();
  const { data } = useLive(
    trpc.pinned.bulks.queryOptions(toPinPageQuery(projectId, place)),
    soonWhile(({ items }) => items.some(({ nextAction }) => nextAction === "poll")),
  );
  return (
    <>
      <PageHeader title="Bulks">
        Up to 10,000 inputs for one pin. Each is sent once and has its own record.
      </PageHeader>
      <ListTable
        noun="bulks"
        page={data}
        state={place}
        hrefOf={(page) => bulksHref(projectId, page)}
        first={<FirstBulk baseUrl={baseUrl} projectId={projectId} />}
        label="Bulks, newest first"
        idOf={({ bulkId }) => bulkId}
        columns={columnsOf(projectId)}
      />
    </>
  );
}

const columnsOf = (projectId: string): TableColumn<Listed>[] => [
  column.title("Bulk", ({ pin, bulkId, retryOf }) => (
    <Titled title={pin.model}>
      <span title={pinWords(pin)}>
        {pin.provider} · {pin.api}
        {retryOf && " · retry"}
      </span>
      <RowLink href={bulkHref(projectId, bulkId)} id={bulkId} />
    </Titled>
  )),
  column.status(({ status }) => <BulkStatusBadge status={status} />),
  {
    header: "Progress",
    className: "w-1/4 @max-2xl:w-full",
    cell: (bulk) => <BulkBar bulk={bulk} className="h-2 min-w-24" />,
  },
  {
    header: "Items",
    align: "end",
    cell: (bulk) => `${endedOf(bulk).toLocaleString("en-US")} of ${bulk.itemCount.toLocaleString("en-US")}`,
  },
  column.quiet("Duration", ({ createdAt, completedAt }) => <Took from={createdAt} to={completedAt} />),
  column.ago("Created", ({ createdAt }) => createdAt),
];
