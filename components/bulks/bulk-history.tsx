"use client";
import { Layers } from "lucide-react";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { ListCard } from "@/components/blocks/list/list-card";
import { RowLink } from "@/components/blocks/list/resource-table";
import { firstBulkCommand, Snippet } from "@/components/pins/first-pin";
import { bulkHref, bulksHref, type ListPlace, toPageQuery } from "@/components/pins/list-state";
import { pinWords } from "@/components/pins/words";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Ago, Elapsed } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { PinnedBulk } from "@/server/contract/pinned";
import { BulkBar, endedOf } from "./bulk-bar";
import { BulkStatusBadge } from "./bulk-status";

type Listed = Omit<PinnedBulk, "items" | "nextCursor">;

/** The bulks of a project with their progress, newest first. */
export function BulkHistory({
  projectId,
  place,
  baseUrl,
}: {
  projectId: string;
  place: ListPlace;
  baseUrl: string;
}) {
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
        <ul aria-label="Bulks, newest first" className="divide-y divide-line">
          {data.items.map((bulk) => (
            <BulkRow key={bulk.bulkId} bulk={bulk} projectId={projectId} />
          ))}
        </ul>
      </ListCard>
    </>
  );
}

function BulkRow({ bulk, projectId }: { bulk: Listed; projectId: string }) {
  const took = msBetween(bulk.createdAt, bulk.completedAt);
  return (
    <li className="relative grid gap-x-5 gap-y-2 px-4 py-3 hover:bg-hover/60 md:grid-cols-[9.5rem_minmax(0,1fr)_minmax(0,1fr)_6rem] md:items-center">
      <div className="flex items-center justify-between gap-3">
        <BulkStatusBadge status={bulk.status} />
        <span className="text-xs text-muted md:hidden">
          <Ago at={bulk.createdAt} />
        </span>
      </div>
      <div className="min-w-0" title={pinWords(bulk.pin)}>
        <div className="truncate text-sm font-medium">{bulk.pin.model}</div>
        <RowLink href={bulkHref(projectId, bulk.bulkId)} id={bulk.bulkId} />
      </div>
      <div className="min-w-0 space-y-1">
        <BulkBar bulk={bulk} className="h-2" />
        <div className="flex justify-between gap-3 text-xs text-muted tabular-nums">
          <span>
            {endedOf(bulk).toLocaleString("en-US")} of {bulk.itemCount.toLocaleString("en-US")}
            {bulk.retryOf && ", retry"}
          </span>
          <span>{took === null ? <Elapsed since={bulk.createdAt} /> : formatDuration(took)}</span>
        </div>
      </div>
      <span className="text-right text-sm text-muted max-md:hidden">
        <Ago at={bulk.createdAt} />
      </span>
    </li>
  );
}
