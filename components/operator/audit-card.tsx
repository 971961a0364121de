"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { callerName } from "@/components/callers/caller-name";
import { Moment } from "@/components/time/moment";
import { sentencesOf, toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { Skeleton } from "@/components/ui/skeleton";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { AuditEntry } from "@/server/contract/audit";

const LOOK_AGAIN_MS = 15_000;

/** The audit log of a request and its payments. */
export function AuditCard({ requestId }: { requestId: string }) {
  const trpc = useTRPC();
  const audit = useInfiniteQuery({
    ...trpc.operator.audit.infiniteQueryOptions(
      { request_id: requestId },
      { getNextPageParam: (page) => page.nextCursor ?? null },
    ),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const entries = audit.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Card aria-labelledby="audit-title" aria-busy={audit.isPending} className="overflow-hidden">
      <CardHeader title="Audit log" id="audit-title" hint="Newest first" />
      {audit.isPending ? (
        <CardBody className="space-y-3">
          <Skeleton className="h-4 w-3/4" />
          <Skeleton className="h-4 w-1/2" />
        </CardBody>
      ) : audit.error ? (
        <ErrorState
          title="Could not load the audit log"
          requestId={toFailure(audit.error).requestId ?? undefined}
          action={<Button onClick={() => audit.refetch()}>Try again</Button>}
        >
          {sentencesOf(audit.error)}
        </ErrorState>
      ) : (
        <Entries entries={entries} />
      )}
      {audit.hasNextPage && (
        <div className="border-t border-line p-3 text-center">
          <Button pending={audit.isFetchingNextPage} onClick={() => audit.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
    </Card>
  );
}

const actorOf = ({ actorId: id, actorKind: kind, actorName: name }: AuditEntry) =>
  callerName({ id, kind, name });
const NOWHERE = "–";

function Entries({ entries }: { entries: AuditEntry[] }) {
  if (entries.length === 0)
    return <p className="px-4 py-8 text-center text-sm text-muted">No entries yet.</p>;
  return (
    <>
      <div className="hidden sm:block">
        <Table>
          <caption className="sr-only">Audit log, newest first</caption>
          <thead>
            <tr>
              <TableHead>Action</TableHead>
              <TableHead>Actor</TableHead>
              <TableHead>Address</TableHead>
              <TableHead className="text-right">Time</TableHead>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <TableRow key={entry.entryId} data-action={entry.action}>
                <TableCell className="font-mono text-xs [overflow-wrap:anywhere]">{entry.action}</TableCell>
                <TableCell className="[overflow-wrap:anywhere]">{actorOf(entry)}</TableCell>
                <TableCell className="font-mono text-xs">{entry.address ?? NOWHERE}</TableCell>
                <TableCell className="text-right text-muted">
                  <Moment at={entry.createdAt} />
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label="Audit log, newest first" className="divide-y divide-line sm:hidden">
        {entries.map((entry) => (
          <li key={entry.entryId} className="space-y-0.5 px-4 py-2.5 text-xs [overflow-wrap:anywhere]">
            <p className="font-mono">{entry.action}</p>
            <p className="text-sm">{actorOf(entry)}</p>
            <p className="text-muted">
              {entry.address && `From ${entry.address}, `}
              <Moment at={entry.createdAt} />
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
