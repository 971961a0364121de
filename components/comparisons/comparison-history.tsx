"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ChevronRight, Columns2, SearchX } from "lucide-react";
import Link from "next/link";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useRole, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { ComparisonLine } from "@/server/contract/comparisons";
import { ComparisonFilters } from "./comparison-filters";
import {
  comparisonHref,
  comparisonsHref,
  hasFilter,
  type ListState,
  newComparisonHref,
  toComparisonsQuery,
} from "./list-state";
import { ComparisonStatusBadge, DecisionBadge, INTENT_WORDS } from "./words";

const LIVE_MS = 3000;
const IDLE_MS = 15_000;

/** The comparisons of a project, newest first. The competitors are not shown. */
export function ComparisonHistory({
  projectId,
  state,
  capabilities,
}: {
  projectId: string;
  state: ListState;
  /** Keys to filter by. */
  capabilities: string[];
}) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.comparisons.list.queryOptions(toComparisonsQuery(projectId, state)),
    refetchInterval: (query) =>
      query.state.data?.items.some(({ status }) => status === "running") ? LIVE_MS : IDLE_MS,
  });
  const { mayWrite } = useRole(projectId);
  const isEmpty = data.items.length === 0 && !state.cursor;
  const begin = mayWrite && (
    <Button asChild variant="primary">
      <Link href={newComparisonHref(projectId)}>
        <Columns2 aria-hidden />
        New comparison
      </Link>
    </Button>
  );
  return (
    <>
      <PageHeader title="Comparisons" actions={!(isEmpty && !hasFilter(state)) && begin}>
        Send one request to several models or settings and judge the results blind.
      </PageHeader>
      {isEmpty && !hasFilter(state) ? (
        <Card>
          <EmptyState icon={Columns2} title="No comparisons yet" action={begin}>
            Send one request to two to four competitors and judge the results side by side. Models, costs and
            durations are revealed after you judge.
          </EmptyState>
        </Card>
      ) : (
        <div className="space-y-4">
          <ComparisonFilters projectId={projectId} state={state} capabilities={capabilities} />
          {isEmpty ? (
            <Card>
              <EmptyState
                icon={SearchX}
                title="No matching comparisons"
                action={
                  <Button asChild>
                    <Link href={comparisonsHref(projectId)}>Show all comparisons</Link>
                  </Button>
                }
              >
                Remove a filter or show all comparisons.
              </EmptyState>
            </Card>
          ) : (
            <Card className="overflow-hidden">
              <ComparisonTable projectId={projectId} items={data.items} />
              <ComparisonCards projectId={projectId} items={data.items} />
              {data.items.length === 0 && <EndOfList />}
            </Card>
          )}
          <Pagination
            label="Pages of comparisons"
            state={state}
            nextCursor={data.nextCursor}
            hrefOf={(page) => comparisonsHref(projectId, page)}
          />
        </div>
      )}
    </>
  );
}

type ListProps = { projectId: string; items: ComparisonLine[] };

function ComparisonTable({ projectId, items }: ListProps) {
  return (
    <div className="hidden md:block">
      <Table>
        <caption className="sr-only">Comparisons, newest first</caption>
        <thead>
          <tr>
            <TableHead className="w-40">Status</TableHead>
            <TableHead>Capability</TableHead>
            <TableHead>Comparison</TableHead>
            <TableHead>Intent</TableHead>
            <TableHead>Decision</TableHead>
            <TableHead className="text-right">Entries</TableHead>
            <TableHead className="text-right">Created</TableHead>
          </tr>
        </thead>
        <tbody>
          {items.map((line) => (
            <TableRow key={line.comparisonId} className="relative">
              <TableCell>
                <ComparisonStatusBadge status={line.status} />
              </TableCell>
              <TableCell className="font-medium">{line.capabilityKey}</TableCell>
              <TableCell>
                <LineLink projectId={projectId} line={line} />
              </TableCell>
              <TableCell className="text-muted">{INTENT_WORDS[line.intent].name}</TableCell>
              <TableCell>
                <DecisionBadge line={line} />
              </TableCell>
              <TableCell className="text-right text-muted">{line.entryCount}</TableCell>
              <TableCell className="text-right text-muted">
                <Ago at={line.createdAt} />
              </TableCell>
            </TableRow>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

function ComparisonCards({ projectId, items }: ListProps) {
  return (
    <ul aria-label="Comparisons, newest first" className="divide-y divide-line md:hidden">
      {items.map((line) => (
        <li key={line.comparisonId} className="relative flex items-center gap-3 px-4 py-3">
          <div className="min-w-0 flex-1 space-y-1.5">
            <div className="flex items-center justify-between gap-2">
              <ComparisonStatusBadge status={line.status} />
              <span className="text-xs text-muted">
                <Ago at={line.createdAt} />
              </span>
            </div>
            <div className="truncate text-sm font-medium">{line.capabilityKey}</div>
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
              <LineLink projectId={projectId} line={line} />
              <span>{INTENT_WORDS[line.intent].name}</span>
              <span>{line.entryCount} entries</span>
              <DecisionBadge line={line} />
            </div>
          </div>
          <ChevronRight aria-hidden className="size-4 shrink-0 text-muted" />
        </li>
      ))}
    </ul>
  );
}

/** The link covers its whole row. */
function LineLink({ projectId, line }: { projectId: string; line: ComparisonLine }) {
  return (
    <Link
      href={comparisonHref(projectId, line.comparisonId)}
      className="rounded font-mono text-xs text-link after:absolute after:inset-0 hover:underline"
      title={line.comparisonId}
    >
      {shortId(line.comparisonId)}
    </Link>
  );
}
