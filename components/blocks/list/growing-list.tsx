"use client";
import type { ReactNode } from "react";
import { sentencesOf, toFailure } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { CardBody } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/empty-state";
import { EndOfList } from "@/components/ui/pagination";
import { Skeleton } from "@/components/ui/skeleton";

/** A failed read, with a button to retry. */
export function ReadFailure({ what, error, again }: { what: string; error: unknown; again(): unknown }) {
  return (
    <ErrorState
      title={`Could not load ${what}`}
      requestId={toFailure(error).requestId ?? undefined}
      action={<Button onClick={() => again()}>Try again</Button>}
    >
      {sentencesOf(error)}
    </ErrorState>
  );
}

/** A list in a card that the reader extends page by page; the first page is fetched when the card is shown. */
export function GrowingList<Row>({
  what,
  query,
  rows,
  empty,
  children,
}: {
  /** The name of the list in its error, such as "the audit log". */
  what: string;
  query: {
    isPending: boolean;
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    refetch(): unknown;
    fetchNextPage(): unknown;
  };
  rows: readonly Row[];
  empty: string;
  children(rows: readonly Row[]): ReactNode;
}) {
  return (
    <>
      {query.isPending ? (
        <CardBody className="space-y-3">
          <Skeleton className="h-4 w-3/4" />
          <Skeleton className="h-4 w-1/2" />
        </CardBody>
      ) : query.error ? (
        <ReadFailure what={what} error={query.error} again={query.refetch} />
      ) : rows.length === 0 ? (
        <EndOfList>{empty}</EndOfList>
      ) : (
        children(rows)
      )}
      {query.hasNextPage && (
        <div className="border-t border-line p-3 text-center">
          <Button pending={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
