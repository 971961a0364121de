"use client";
import { ArrowUpRight, BadgeDollarSign, Trophy } from "lucide-react";
import { useState } from "react";
import { Picture, PictureFrame, type Shared } from "@/components/artifacts/picture-frame";
import { ArtifactViewer, isPicture } from "@/components/artifacts/viewer";
import { artifactHref } from "@/components/jobs/artifact-gallery";
import { JobStatusBadge } from "@/components/jobs/job-status";
import { Badge } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { Words } from "@/components/ui/words";
import type { Comparison, ComparisonEntry } from "@/server/contract/comparisons";
import { TERMINAL } from "@/server/contract/enums";
import { artifactName, entryFiles, entryText, providerCost, ranFor } from "./shown";

export type EntryView = {
  comparison: Comparison;
  entry: ComparisonEntry;
  name: string;
  /** The index of the file to show, for entries with several. */
  place: number;
  shared: Shared;
};

/** One entry: its status and output, and its model once revealed. */
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
            {judgement && (
              <Link
                // The job page is not loaded before it is opened.
                prefetch={false}
                href={`/projects/${comparison.projectId}/jobs/${entry.jobId}`}
                aria-label={`Job of ${name}`}
                className="inline-flex items-center gap-0.5 rounded text-xs text-link hover:underline"
              >
                Job
                <ArrowUpRight aria-hidden className="size-3.5" />
              </Link>
            )}
          </>
        }
      />
      <Plate {...view} />
      <div
        className={cn(
          judgement?.decision === "winner" && !isWinner && "[&_img]:saturate-40 [&_img]:hover:saturate-100",
        )}
      >
        <EntryContent {...view} />
      </div>
    </Card>
  );
}

/** The model, cost and duration of an entry: hidden before the judgement, and then revealed entry by entry. */
function Plate({ comparison, entry }: EntryView) {
  const isRevealed = comparison.judgement !== null;
  const [wasCovered] = useState(!isRevealed);
  const look = "flex min-h-9 flex-wrap items-center gap-x-4 gap-y-0.5 border-b border-line px-4 py-2 text-xs";
  if (!isRevealed)
    return (
      <p className={cn(look, "bg-sunken text-muted")}>
        <span className="sr-only">Model, cost and duration are hidden.</span>
        <span aria-hidden className="h-3 flex-1 rounded-full bg-line blur-[2px]" />
        <span aria-hidden>Cost •••</span>
        <span aria-hidden>Duration •••</span>
      </p>
    );
  return (
    <p
      key="revealed"
      className={cn(look, wasCovered && TURNED_OVER)}
      style={wasCovered ? { transitionDelay: `${comparison.entries.indexOf(entry) * 80}ms` } : undefined}
    >
      <span className="flex-1">
        <span className="text-sm font-medium">{entry.provider ?? "Local"}</span>{" "}
        <code className="text-muted [overflow-wrap:anywhere]">{entry.model}</code>
      </span>
      <span className="tabular-nums">{providerCost(entry)}</span>
      <span className="tabular-nums">{ranFor(entry)}</span>
    </p>
  );
}

const TURNED_OVER =
  "motion-safe:transition-[transform,opacity] motion-safe:duration-320 motion-safe:starting:opacity-0 motion-safe:starting:[transform:perspective(40rem)_rotateX(90deg)]";

function EntryContent(view: EntryView) {
  const { entry, name, comparison } = view;
  switch (entry.status) {
    case "succeeded":
      return <Made {...view} />;
    case "failed":
    case "canceled": {
      const hasFailed = entry.status === "failed";
      return (
        <Notice
          className="m-4"
          tone={hasFailed ? "bad" : "busy"}
          title={hasFailed ? `${name} failed` : `${name} was canceled`}
        >
          <p>{entry.error?.message ?? "There is no output."}</p>
          {entry.error && <code className="mt-1 block text-xs text-muted">{entry.error.code}</code>}
        </Notice>
      );
    }
    case "awaiting_approval":
      return (
        <Notice className="m-4" tone="warn" title="Waiting for approval">
          All entries need approval.{" "}
          <Link href={`/projects/${comparison.projectId}/approvals`} className="text-link underline">
            Open approvals
          </Link>
        </Notice>
      );
    case "needs_attention":
      return (
        <Notice className="m-4" tone="warn" title="Needs attention">
          The provider returned a result, but a later step keeps failing. An operator must decide how to
          continue.
        </Notice>
      );
    default:
      return (
        <div className="space-y-2.5 p-4">
          <Skeleton className="h-40 w-full" />
          <Skeleton className="h-4 w-3/5" />
          <p className="text-xs text-muted">
            {entry.status === "queued" ? "Queued." : "Running."} Output appears here when the job finishes.
          </p>
        </div>
      );
  }
}

/** The output of an entry: the file at this position, its text, or its data. */
function Made({ comparison, entry, name, place, shared }: EntryView) {
  const items = entryFiles(entry);
  const item = items[place];
  const text = entryText(entry);
  const isData = entry.typedOutput !== null && entry.typedOutput !== undefined && text === null;
  const alt = artifactName(name, place, items.length);
  return (
    <>
      {item && <Item jobId={entry.jobId} item={item} alt={alt} shared={shared} />}
      {!item && items.length > 0 && (
        <p className="p-4 text-sm text-muted">
          {name} has {items.length} {items.length === 1 ? "file" : "files"}.
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
          {comparison.judgement ? "The content is no longer stored." : "There is no output to show."}
        </p>
      )}
    </>
  );
}

type Props = { jobId: string; item: ComparisonEntry["artifacts"][number]; alt: string; shared: Shared };

function Item({ jobId, item, alt, shared }: Props) {
  const href = artifactHref(jobId, item.artifactId);
  if (isPicture(item.mediaType))
    return (
      <PictureFrame name={alt} shared={shared} className="aspect-square max-h-[70vh] w-full">
        <Picture href={href} alt={alt} view={shared.view} />
      </PictureFrame>
    );
  return <ArtifactViewer artifact={{ ...item, href, name: alt }} beside={[]} />;
}
