"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { FileCheck, Play } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { CreateManifest } from "@/components/provenance/create-manifest";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Ago } from "@/components/time/moment";
import { useRole, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { cn } from "@/components/ui/class-names";
import { shortId } from "@/components/ui/copyable-id";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { PinnedListItem } from "@/server/contract/pinned";
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
  const { data } = useSuspenseQuery({
    ...trpc.pinned.list.queryOptions(toPageQuery(projectId, place)),
    refetchInterval: REFRESH_MS,
  });
  const mayWrite = useRole(projectId).mayWrite;
  /** Kept across pages of the list. */
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isEmpty = data.items.length === 0 && !place.cursor;

  const choose = (receiptIds: string[], isChosen: boolean) => {
    const after = new Set(chosen);
    for (const id of receiptIds) isChosen ? after.add(id) : after.delete(id);
    setChosen(after);
  };
  const list = { projectId, items: data.items, chosen: mayWrite ? chosen : null, choose };

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
      {isEmpty ? (
        <Card>
          <FirstPin baseUrl={baseUrl} projectId={projectId} mayRun={mayWrite} />
        </Card>
      ) : (
        <div className="space-y-4">
          <Card className="overflow-hidden">
            <RecordTable {...list} />
            <RecordCards {...list} />
            {data.items.length === 0 && <EndOfList />}
          </Card>
          <div className="flex flex-wrap items-center justify-between gap-3">
            {chosen.size > 0 ? (
              <Chosen projectId={projectId} chosen={chosen} onClear={() => setChosen(new Set())} />
            ) : (
              <p className="text-xs text-muted">{mayWrite && "Select records to create a manifest."}</p>
            )}
            <Pagination
              label="Pages of pinned records"
              state={place}
              nextCursor={data.nextCursor}
              hrefOf={(page) => pinnedHref(projectId, page)}
            />
          </div>
        </div>
      )}
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
      <CreateManifest projectId={projectId} receiptIds={[...chosen]}>
        <Button variant="primary">
          <FileCheck aria-hidden />
          Create manifest
        </Button>
      </CreateManifest>
      <Button variant="ghost" onClick={onClear}>
        Clear
      </Button>
    </section>
  );
}

type ListProps = {
  projectId: string;
  items: PinnedListItem[];
  /** Null: the reader may not create manifests. */
  chosen: ReadonlySet<string> | null;
  choose(receiptIds: string[], isChosen: boolean): void;
};

function RecordTable({ projectId, items, chosen, choose }: ListProps) {
  const ids = items.map(({ receiptId }) => receiptId);
  const isAll = ids.length > 0 && ids.every((id) => chosen?.has(id));
  return (
    <div className="hidden md:block">
      <Table>
        <caption className="sr-only">Pinned records, newest first</caption>
        <thead>
          <tr>
            {chosen && (
              <TableHead className="w-8">
                <Checkbox
                  aria-label="Select all records on this page"
                  checked={isAll}
                  onCheckedChange={(checked) => choose(ids, checked === true)}
                />
              </TableHead>
            )}
            <TableHead>Status</TableHead>
            <TableHead>Pin</TableHead>
            <TableHead>Record</TableHead>
            <TableHead>Submission</TableHead>
            <TableHead className="text-right">Cost</TableHead>
            <TableHead className="text-right">Duration</TableHead>
            <TableHead className="text-right">Time</TableHead>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <TableRow key={item.receiptId} className="relative">
              {chosen && (
                <TableCell>
                  <Choose item={item} chosen={chosen} choose={choose} />
                </TableCell>
              )}
              <TableCell>
                <PinStatusBadge status={item.status} />
              </TableCell>
              <TableCell className="max-w-56">
                <PinName item={item} />
              </TableCell>
              <TableCell>
                <RecordLink projectId={projectId} item={item} />
              </TableCell>
              <TableCell>
                <Submission item={item} />
              </TableCell>
              <TableCell className="text-right text-muted">{costWords(item)}</TableCell>
              <TableCell className="text-right whitespace-nowrap text-muted">{took(item)}</TableCell>
              <TableCell className="text-right text-muted">
                <Ago at={item.createdAt} />
              </TableCell>
            </TableRow>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

function RecordCards({ projectId, items, chosen, choose }: ListProps) {
  return (
    <ul aria-label="Pinned records, newest first" className="divide-y divide-line md:hidden">
      {items.map((item) => (
        <li key={item.receiptId} className="relative flex items-start gap-3 px-4 py-3">
          {chosen && (
            <div className="pt-0.5">
              <Choose item={item} chosen={chosen} choose={choose} />
            </div>
          )}
          <div className="min-w-0 flex-1 space-y-1.5">
            <div className="flex items-center justify-between gap-2">
              <PinStatusBadge status={item.status} />
              <span className="text-xs text-muted">
                <Ago at={item.createdAt} />
              </span>
            </div>
            <PinName item={item} />
            <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-muted">
              <RecordLink projectId={projectId} item={item} />
              <Submission item={item} />
              <span>{costWords(item)}</span>
              <span>{took(item)}</span>
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Choose({
  item,
  chosen,
  choose,
}: { item: PinnedListItem } & Pick<ListProps, "choose"> & {
    chosen: ReadonlySet<string>;
  }) {
  return (
    <Checkbox
      aria-label={`Select ${shortId(item.receiptId)}`}
      className="relative z-10" // above the link that covers the row
      checked={chosen.has(item.receiptId)}
      onCheckedChange={(checked) => choose([item.receiptId], checked === true)}
    />
  );
}

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

/** The link covers its whole row. */
function RecordLink({ projectId, item }: { projectId: string; item: PinnedListItem }) {
  return (
    <Link
      href={recordHref(projectId, item.receiptId)}
      className="rounded font-mono text-xs whitespace-nowrap text-link after:absolute after:inset-0 hover:underline"
      title={item.receiptId}
    >
      {shortId(item.receiptId)}
    </Link>
  );
}

function Submission({ item }: { item: PinnedListItem }) {
  return (
    <span className="text-xs text-muted">
      {item.errorCode ? (
        <code className={cn(item.status === "failed" ? "text-bad" : "text-warn")}>{item.errorCode}</code>
      ) : (
        SUBMISSION_WORDS[item.providerSubmission]
      )}
    </span>
  );
}

const took = (item: PinnedListItem) => formatDuration(msBetween(item.createdAt, item.completedAt) ?? 0);
