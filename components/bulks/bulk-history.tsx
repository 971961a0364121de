"use client";
import { Layers } from "lucide-react";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { column } from "@/components/blocks/list/columns";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable, RowLink, Titled } from "@/components/blocks/list/resource-table";
import { firstBulkCommand, Snippet } from "@/components/pins/first-pin";
import { bulkHref, bulksHref, type ListPlace, toPageQuery } from "@/components/pins/list-state";
import { pinWords } from "@/components/pins/words";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Elapsed } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { PinnedBulk } from "@/server/contract/pinned";
import { BulkBar, endedOf } from "./bulk-bar";
import { BulkStatusBadge } from "./bulk-status";

type Listed = Omit<PinnedBulk, "items" | "nextCursor">;

type Props = { projectId: string; place: ListPlace; baseUrl: string };

/** The bulks of a project with their progress, newest first. */
export function BulkHistory({ projectId, place, baseUrl }: Props) {
  const trpc = useTRPC();
  const { data } = useLive(
    trpc.pinned.bulks.queryOptions(toPageQuery(projectId, place)),
    soonWhile(({ items }) => items.some(({ nextAction }) => nextAction === "poll")),
  );
  return (
    <>
      <PageHeader title="Bulks">
        Up to 10,000 inputs for one pin. Each is sent once and has its own record.
      </PageHeader>
      <ListCard
        noun="bulks"
        page={data}
        state={place}
        hrefOf={(page) => bulksHref(projectId, page)}
        first={
          <EmptyState
            icon={Layers}
            title="No bulks yet"
            action={
              <Button asChild variant="primary">
                <Link href={`/projects/${projectId}/keys`}>Create API key</Link>
              </Button>
            }
          >
            <p>
              A bulk sends many inputs to one pin. Set <code className="text-sm">CAPSTAN_API_KEY</code> to an
              API key and send your first bulk:
            </p>
            <Snippet what="command" code={firstBulkCommand(baseUrl, projectId)} />
          </EmptyState>
        }
      >
        <ResourceTable
          label="Bulks, newest first"
          rows={data.items}
          idOf={({ bulkId }) => bulkId}
          columns={columnsOf(projectId)}
        />
      </ListCard>
    </>
  );
}

const columnsOf = (projectId: string): Column<Listed>[] => [
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
  column.quiet("Duration", ({ createdAt, completedAt }) => {
    const took = msBetween(createdAt, completedAt);
    return took === null ? <Elapsed since={createdAt} /> : formatDuration(took);
  }),
  column.ago("Created", ({ createdAt }) => createdAt),
];
