"use client";
import { useQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import { column } from "@/components/blocks/list/columns";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { callerName } from "@/components/callers/caller-name";
import { competitorName } from "@/components/comparisons/new/draft";
import { useTRPC } from "@/components/data/trpc";
import { ChargeAmount } from "@/components/jobs/charge-words";
import { JobStatusBadge } from "@/components/jobs/job-status";
import { Snippets } from "@/components/playground/snippets";
import { Moment } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { ComparisonEntry, ComparisonShown } from "@/server/contract/comparisons";
import { entryName, judgementText } from "./judgement";
import { revealOf } from "./reveal";
import { providerCost, ranFor } from "./shown";
import { winnerRequest } from "./use-winner";

type Judged = ComparisonShown & { judgement: NonNullable<ComparisonShown["judgement"]> };
export const isJudged = (comparison: ComparisonShown): comparison is Judged => comparison.judgement !== null;

/** The judgement and the revealed competitors. */
export function Verdict({ comparison }: { comparison: Judged }) {
  const { entries, judgement } = comparison;
  return (
    <Section
      title="Results"
      id="verdict-title"
      hint={
        <>
          Judged by {callerName({ id: judgement.judgedBy, name: comparison.judgedByName ?? null })},{" "}
          <Moment at={judgement.judgedAt} />
        </>
      }
      isFlush
    >
      <p className="border-b border-line px-4 py-3 text-base" data-decision={judgement.decision}>
        {judgementText(judgement, entries)} {revealOf(comparison)}
      </p>
      <ResourceTable
        label="Revealed entries"
        rows={entries}
        idOf={({ entryId }) => entryId}
        marks={(entry) => ({ "data-revealed": entryName(entries.indexOf(entry)) })}
        columns={columnsOf(comparison)}
      />
    </Section>
  );
}

const columnsOf = (comparison: Judged): TableColumn<ComparisonEntry>[] => [
  {
    header: "Entry",
    card: "title",
    cell: (entry) => (
      <Name comparison={comparison} entry={entry} name={entryName(comparison.entries.indexOf(entry))} />
    ),
  },
  {
    header: "Model",
    className: "[overflow-wrap:anywhere]",
    cell: ({ provider, model }) => (
      <>
        {provider ?? "Local"} <code className="text-xs text-muted">{model}</code>
      </>
    ),
  },
  {
    header: "Competitor",
    card: "hidden",
    className: "text-muted",
    cell: ({ competitor }) => competitor && competitorName(competitor),
  },
  column.quiet(
    "Provider cost",
    (entry) =>
      typeof entry.costMicros === "number" ? <Amount of={entry.costMicros} /> : providerCost(entry),
    "fact",
  ),
  column.amount("You pay", ({ charge }) => charge && <ChargeAmount charge={charge} />),
  column.quiet("Duration", ranFor),
  { header: "Receipt", cell: (entry) => <ReceiptLink projectId={comparison.projectId} entry={entry} /> },
];

function Name({ comparison, entry, name }: { comparison: Judged; entry: ComparisonEntry; name: string }) {
  const { overallWinnerEntryId, valueWinnerEntryId } = comparison.judgement;
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <span className="font-medium whitespace-nowrap">{name}</span>
      {entry.entryId === overallWinnerEntryId && <Badge tone="good">Winner</Badge>}
      {entry.entryId === valueWinnerEntryId && <Badge tone="good">Best value</Badge>}
      {entry.status !== "succeeded" && <JobStatusBadge status={entry.status} />}
    </span>
  );
}

function ReceiptLink({ projectId, entry }: { projectId: string; entry: ComparisonEntry }) {
  if (!entry.receiptId) return <span className="text-muted">None</span>;
  return (
    <Link
      href={`/projects/${projectId}/jobs/${entry.jobId}?tab=receipt`}
      title={entry.receiptId}
      className="inline-flex items-center gap-1 align-middle font-mono text-xs whitespace-nowrap text-link hover:underline"
    >
      <ReceiptText aria-hidden className="size-3.5" />
      {shortId(entry.receiptId)}
    </Link>
  );
}

/** Code that sends the winner's request again; renders nothing when there is no winner. */
export function UseTheWinner({ comparison }: { comparison: Judged }) {
  const { entries, judgement } = comparison;
  const winner = entries.find(({ entryId }) => entryId === judgement.overallWinnerEntryId);
  return winner ? <WinnerCode comparison={comparison} winner={winner} /> : null;
}

function WinnerCode({ comparison, winner }: { comparison: Judged; winner: ComparisonEntry }) {
  const trpc = useTRPC();
  const { data: job } = useQuery(trpc.jobs.get.queryOptions({ job_id: winner.jobId }));
  const body = job && winnerRequest(comparison, winner, job);
  if (!body) return null;
  return (
    <Snippets title="Use the winner" path={`/v1/capabilities/${comparison.capabilityKey}/jobs`} body={body} />
  );
}
