"use client";
import { FileCheck, Play } from "lucide-react";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable, RowLink } from "@/components/blocks/list/resource-table";
import { Reason } from "@/components/blocks/status/reason";
import { CreateManifest } from "@/components/provenance/create-manifest";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { PinnedListItem } from "@/server/contract/pinned-records";
import { FirstPin } from "./first-pin";
import { type ListPlace, pinnedHref, recordHref, toPageQuery } from "./list-state";
import { PinStatusBadge, SUBMISSION_WORDS } from "./pin-status";
import { costWords, pinWords } from "./words";

const REFRESH_MS = 10_000;

/** A project's pinned records, newest first. Selected records can become a manifest. */
export function PinHistory({
  projectId,
  place,
  baseUrl,
}: {
  projectId: string;
  place: ListPlace;
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useLive(trpc.pinned.list.queryOptions(toPageQuery(projectId, place)), REFRESH_MS);
  const mayWrite = useProject(projectId).may("member");
  /** Kept across pages of the list. */
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isEmpty = data.items.length === 0 && !place.cursor;

  const choose = (receiptIds: string[], isChosen: boolean) => {
    const after = new Set(chosen);
    for (const id of receiptIds) isChosen ? after.add(id) : after.delete(id);
    setChosen(after);
  };

  return (
    <>
      <PageHeader
        title="Pinned records"
        actions={
          mayWrite &&
          !isEmpty && (
            <Button asChild variant="primary">
              <Link href={`/projects/${projectId}/pinned/new`}>
                <Play aria-hidden />
                Run pinned request
              </Link>
            </Button>
          )
        }
      >
        Signed records of requests to one exact model and their responses.
      </PageHeader>
      <ListCard
        noun="pinned records"
        page={data}
        state={place}
        hrefOf={(page) => pinnedHref(projectId, page)}
        first={<FirstPin baseUrl={baseUrl} projectId={projectId} mayRun={mayWrite} />}
        foot={
          !isEmpty &&
          mayWrite &&
          (chosen.size > 0 ? (
            <Chosen projectId={projectId} chosen={chosen} onClear={() => setChosen(new Set())} />
          ) : (
            <p className="text-xs text-muted">Select records to create a manifest.</p>
          ))
        }
      >
        <ResourceTable
          label="Pinned records, newest first"
          rows={data.items}
          idOf={({ receiptId }) => receiptId}
          columns={columnsOf(projectId)}
          selection={mayWrite ? { chosen, choose, nameOf: ({ receiptId }) => shortId(receiptId) } : undefined}
        />
      </ListCard>
    </>
  );
}

function Chosen({
  projectId,
  chosen,
  onClear,
}: {
  projectId: string;
  chosen: ReadonlySet<string>;
  onClear(): void;
}) {
  return (
    <section aria-label="Selected records" className="flex flex-wrap items-center gap-2 text-sm">
      <span role="status">{chosen.size === 1 ? "1 record selected" : `${chosen.size} records selected`}</span>
      <CreateManifest
        projectId={projectId}
        receiptIds={[...chosen]}
        trigger={
          <Button variant="primary">
            <FileCheck aria-hidden />
            Create manifest
          </Button>
        }
      />
      <Button variant="ghost" onClick={onClear}>
        Clear
      </Button>
    </section>
  );
}

const columnsOf = (projectId: string): Column<PinnedListItem>[] => [
  { header: "Status", card: "status", cell: ({ status }) => <PinStatusBadge status={status} /> },
  { header: "Pin", card: "title", className: "max-w-56", cell: (item) => <PinName item={item} /> },
  {
    header: "Record",
    cell: ({ receiptId: id }) => <RowLink href={recordHref(projectId, id)} id={id} />,
  },
  { header: "Submission", cell: (item) => <Submission item={item} /> },
  { header: "Cost", align: "end", className: "text-muted", cell: costWords },
  { header: "Duration", align: "end", className: "whitespace-nowrap text-muted", cell: took },
  {
    header: "Time",
    align: "end",
    className: "text-muted",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];

function PinName({ item }: { item: PinnedListItem }) {
  return (
    <div className="min-w-0" title={pinWords(item.pin)}>
      <div className="truncate text-sm font-medium">{item.pin.model}</div>
      <div className="truncate text-xs text-muted">
        {item.pin.provider} · {item.pin.api}
        {item.itemId !== null && ` · ${item.itemId}`}
      </div>
    </div>
  );
}

function Submission({ item }: { item: PinnedListItem }) {
  return (
    <span className="text-xs text-muted">
      {item.errorCode ? (
        <Reason code={item.errorCode} className={item.status === "failed" ? "text-bad" : "text-warn"} />
      ) : (
        SUBMISSION_WORDS[item.providerSubmission]
      )}
    </span>
  );
}

const took = (item: PinnedListItem) => formatDuration(msBetween(item.createdAt, item.completedAt) ?? 0);
