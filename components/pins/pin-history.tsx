"use client";
import { FileCheck, Play } from "lucide-react";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { column } from "@/components/blocks/list/columns";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { Reason } from "@/components/blocks/status/reason";
import { useTRPC } from "@/components/data/trpc";
import { CreateManifest } from "@/components/provenance/create-manifest";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { PinnedListItem } from "@/server/contract/pinned-records";
import { FirstPin } from "./first-pin";
import { type PinListPosition, pinnedHref, recordHref, toPinPageQuery } from "./list-state";
import { PinStatusBadge, SUBMISSION_WORDS } from "./pin-status";
import { pinWords } from "./words";

const REFRESH_MS = 10_000;

/** A project's pinned records, newest first. Selected records can become a manifest. */
export function PinHistory({
  projectId,
  place,
  baseUrl,
}: {
  projectId: string;
  place: PinListPosition;
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useLive(trpc.pinned.list.queryOptions(toPinPageQuery(projectId, place)), REFRESH_MS);
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
      <ListTable
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
        label="Pinned records, newest first"
        idOf={({ receiptId }) => receiptId}
        columns={columnsOf(projectId)}
        selection={mayWrite ? { chosen, choose, nameOf: ({ receiptId }) => shortId(receiptId) } : undefined}
      />
    </>
  );
}

type Props = { projectId: string; chosen: ReadonlySet<string>; onClear(): void };

function Chosen({ projectId, chosen, onClear }: Props) {
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

const columnsOf = (projectId: string): TableColumn<PinnedListItem>[] => [
  column.title("Record", ({ pin, itemId, receiptId: id }) => (
    <Titled title={pin.model}>
      <span title={pinWords(pin)}>
        {pin.provider} · {pin.api}
        {itemId !== null && ` · ${itemId}`}
      </span>
      <RowLink href={recordHref(projectId, id)} id={id} />
    </Titled>
  )),
  column.status(({ status }) => <PinStatusBadge status={status} />),
  { header: "Submission", cell: submissionWords },
  column.amount("Cost", ({ cost }) => (cost ? <Amount of={cost} /> : "Unknown")),
  column.quiet("Duration", took),
  column.ago("Time", ({ createdAt }) => createdAt),
];

const submissionWords = ({ errorCode, status, providerSubmission }: PinnedListItem) =>
  errorCode ? (
    <Reason code={errorCode} className={cn("text-xs", status === "failed" ? "text-bad" : "text-warn")} />
  ) : (
    <span className="text-xs text-muted @max-2xl:hidden">{SUBMISSION_WORDS[providerSubmission]}</span>
  );

const took = (item: PinnedListItem) => formatDuration(msBetween(item.createdAt, item.completedAt) ?? 0);
