"use client";
import { ArrowUpRight, BadgeDollarSign, Trophy } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ArtifactViewer, isPicture } from "@/components/artifacts/viewer";
import { artifactHref } from "@/components/jobs/artifact-gallery";
import { JobStatusBadge } from "@/components/jobs/job-status";
import { Badge } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { JsonView } from "@/components/ui/json-view";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { Words } from "@/components/ui/words";
import type { Comparison } from "@/server/contract/comparisons";
import { TERMINAL } from "@/server/contract/jobs";
import { Picture, PictureFrame, type Shared } from "./picture-frame";
import { artifactName, type Entry, itemsOf, textOf } from "./shown";

export type EntryView = {
  comparison: Comparison;
  entry: Entry;
  name: string;
  /** Which of its files, where an entry made several. */
  place: number;
  shared: Shared;
};

/** One entry: how far it is, and what it made. Who it is stands here once that is known. */
export function EntryCard(view: EntryView) {
  const { comparison, entry, name } = view;
  const { judgement } = comparison;
  const isWinner = judgement?.overallWinnerEntryId === entry.entryId;
  return (
    <Card
      aria-labelledby={entry.entryId}
      aria-busy={!TERMINAL.includes(entry.status)}
      data-entry={name}
      className={cn("flex flex-col overflow-hidden", isWinner && "ring-2 ring-good")}
    >
      <CardHeader
        title={name}
        id={entry.entryId}
        hint={<JobStatusBadge status={entry.status} />}
        actions={
          <>
            {isWinner && (
              <Badge tone="good">
                <Trophy aria-hidden />
                Winner
              </Badge>
            )}
            {judgement?.valueWinnerEntryId === entry.entryId && (
              <Badge tone="good">
                <BadgeDollarSign aria-hidden />
                Best value
              </Badge>
            )}
            <Link
              // The page of a job is not read before it is asked for.
              prefetch={false}
              href={`/projects/${comparison.projectId}/jobs/${entry.jobId}`}
              aria-label={`Job of ${name}`}
              className="inline-flex items-center gap-0.5 rounded text-xs text-link hover:underline"
            >
              Job
              <ArrowUpRight aria-hidden className="size-3.5" />
            </Link>
          </>
        }
      />
      {entry.provider && (
        <p className="border-b border-line px-4 py-2 text-sm">
          <span className="font-medium">{entry.provider}</span>{" "}
          <code className="text-xs text-muted [overflow-wrap:anywhere]">{entry.model}</code>
        </p>
      )}
      <EntryContent {...view} />
    </Card>
  );
}

function EntryContent(view: EntryView) {
  const { entry, name, comparison } = view;
  switch (entry.status) {
    case "succeeded":
      return <Made {...view} />;
    case "failed":
    case "canceled":
      return (
        <Told>
          <Notice
            tone={entry.status === "failed" ? "bad" : "busy"}
            title={entry.status === "failed" ? `${name} failed` : `${name} was canceled`}
          >
            <p>{entry.error?.message ?? "Nothing was made."}</p>
            {entry.error && <code className="mt-1 block text-xs text-muted">{entry.error.code}</code>}
          </Notice>
        </Told>
      );
    case "awaiting_approval":
      return (
        <Told>
          <Notice tone="warn" title="Waiting for a person">
            All entries wait for approval.{" "}
            <Link href={`/projects/${comparison.projectId}/approvals`} className="text-link underline">
              Decide about it
            </Link>
          </Notice>
        </Told>
      );
    case "needs_attention":
      return (
        <Told>
          <Notice tone="warn" title="Needs attention">
            A result was made, but a later step keeps failing. An operator has to decide.
          </Notice>
        </Told>
      );
    default:
      return (
        <div className="space-y-2.5 p-4">
          <Skeleton className="h-40 w-full" />
          <Skeleton className="h-4 w-3/5" />
          <p className="text-xs text-muted">
            {entry.status === "queued" ? "Waiting for a worker." : "At work."} What it makes appears here by
            itself.
          </p>
        </div>
      );
  }
}

const Told = ({ children }: { children: ReactNode }) => <div className="p-4">{children}</div>;

/** What an entry made: the file at this place, its text, or its data. */
function Made({ comparison, entry, name, place, shared }: EntryView) {
  const items = itemsOf(entry);
  const item = items[place];
  const text = textOf(entry);
  const isData = entry.typedOutput !== null && entry.typedOutput !== undefined && text === null;
  const alt = artifactName(name, place, items.length);
  return (
    <>
      {item && <Item jobId={entry.jobId} item={item} alt={alt} shared={shared} />}
      {!item && items.length > 0 && (
        <p className="p-4 text-sm text-muted">
          {name} made {items.length}.
        </p>
      )}
      {text !== null && (
        <div className="p-4">
          <Words text={text} what={`text of ${name}`} />
        </div>
      )}
      {isData &&
        (items.length === 0 ? (
          <div className="p-4">
            <JsonView value={entry.typedOutput} what={`output of ${name}`} />
          </div>
        ) : (
          <details className="border-t border-line">
            <summary className="px-4 py-2 text-xs font-medium text-muted hover:text-text">
              Output as JSON
            </summary>
            <div className="px-4 pb-4">
              <JsonView value={entry.typedOutput} what={`output of ${name}`} className="max-h-64" />
            </div>
          </details>
        ))}
      {items.length === 0 && text === null && !isData && (
        <p className="p-4 text-sm text-muted">
          {comparison.judgement ? "Its content is no longer kept." : "It made nothing that can be shown."}
        </p>
      )}
    </>
  );
}

function Item({
  jobId,
  item,
  alt,
  shared,
}: {
  jobId: string;
  item: Entry["artifacts"][number];
  alt: string;
  shared: Shared;
}) {
  const href = artifactHref(jobId, item.artifactId);
  if (isPicture(item.mediaType))
    return (
      <PictureFrame name={alt} shared={shared} className="aspect-square max-h-[70vh] w-full">
        <Picture href={href} alt={alt} view={shared.view} />
      </PictureFrame>
    );
  return <ArtifactViewer artifact={{ ...item, href, name: alt }} beside={[]} />;
}
