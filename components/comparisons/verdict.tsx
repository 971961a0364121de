"use client";
import { useQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import Link from "next/link";
import { callerName } from "@/components/callers/caller-name";
import { chargeWords } from "@/components/jobs/charge-words";
import { formatUsd } from "@/components/jobs/format-usd";
import { JobStatusBadge } from "@/components/jobs/job-status";
import { Snippets } from "@/components/playground/snippets";
import { formatDuration, msBetween } from "@/components/time/format";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { ComparisonShown } from "@/server/contract/comparisons";
import { competitorName } from "./draft";
import { nameOf, wordsOf } from "./judgement";
import type { Entry } from "./shown";
import { winnerRequest } from "./use-winner";

type Judged = ComparisonShown & { judgement: NonNullable<ComparisonShown["judgement"]> };
export const isJudged = (comparison: ComparisonShown): comparison is Judged => comparison.judgement !== null;

/** The judgement and the revealed competitors. */
export function Verdict({ comparison }: { comparison: Judged }) {
  const { entries, judgement, projectId } = comparison;
  return (
    <Card aria-labelledby="verdict-title" className="overflow-hidden">
      <CardHeader
        title="Results"
        id="verdict-title"
        hint={
          <>
            Judged by {callerName({ id: judgement.judgedBy, name: comparison.judgedByName ?? null })},{" "}
            <Moment at={judgement.judgedAt} />
          </>
        }
      />
      <p className="border-b border-line px-4 py-3 text-base" data-decision={judgement.decision}>
        {wordsOf(judgement, entries)}
      </p>
      <div className="hidden md:block">
        <Table>
          <caption className="sr-only">Revealed entries</caption>
          <thead>
            <tr>
              <TableHead>Entry</TableHead>
              <TableHead>Provider</TableHead>
              <TableHead>Model</TableHead>
              <TableHead>Competitor</TableHead>
              <TableHead className="text-right">Provider cost</TableHead>
              <TableHead className="text-right">You pay</TableHead>
              <TableHead className="text-right">Duration</TableHead>
              <TableHead>Receipt</TableHead>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry, at) => (
              <TableRow key={entry.entryId} data-revealed={nameOf(at)}>
                <TableCell>
                  <Name comparison={comparison} entry={entry} name={nameOf(at)} />
                </TableCell>
                <TableCell>{entry.provider}</TableCell>
                <TableCell className="[overflow-wrap:anywhere]">
                  <code className="text-xs">{entry.model}</code>
                </TableCell>
                <TableCell className="text-muted">
                  {entry.competitor && competitorName(entry.competitor)}
                </TableCell>
                <TableCell className="text-right">{cost(entry)}</TableCell>
                <TableCell className="text-right">{entry.charge && chargeWords(entry.charge)}</TableCell>
                <TableCell className="text-right whitespace-nowrap">{ran(entry)}</TableCell>
                <TableCell>
                  <ReceiptLink projectId={projectId} entry={entry} />
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label="Revealed entries" className="divide-y divide-line md:hidden">
        {entries.map((entry, at) => (
          <li key={entry.entryId} className="space-y-1 px-4 py-3 text-sm">
            <Name comparison={comparison} entry={entry} name={nameOf(at)} />
            <p>
              {entry.provider} <code className="text-xs [overflow-wrap:anywhere]">{entry.model}</code>
            </p>
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted tabular-nums">
              <span>{cost(entry)}</span>
              {entry.charge && <span>You pay {chargeWords(entry.charge)}</span>}
              <span>{ran(entry)}</span>
              <ReceiptLink projectId={projectId} entry={entry} />
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Name({ comparison, entry, name }: { comparison: Judged; entry: Entry; name: string }) {
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

/** An unknown cost is not zero. */
const cost = ({ costMicros }: Entry) =>
  costMicros === null || costMicros === undefined ? "Unknown cost" : formatUsd(costMicros / 1_000_000);

function ran({ startedAt, completedAt }: Entry): string | null {
  const ms = msBetween(startedAt ?? null, completedAt ?? null);
  return ms === null ? null : formatDuration(ms);
}

function ReceiptLink({ projectId, entry }: { projectId: string; entry: Entry }) {
  if (!entry.receiptId) return <span className="text-muted">None</span>;
  return (
    <Link
      href={`/projects/${projectId}/jobs/${entry.jobId}#receipt-title`}
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

function WinnerCode({ comparison, winner }: { comparison: Judged; winner: Entry }) {
  const trpc = useTRPC();
  const { data: job } = useQuery(trpc.jobs.get.queryOptions({ job_id: winner.jobId }));
  const body = job && winnerRequest(comparison, winner, job);
  if (!body) return null;
  return (
    <Snippets title="Use the winner" path={`/v1/capabilities/${comparison.capabilityKey}/jobs`} body={body} />
  );
}
