"use client";
import { ChevronRight, Plus } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { formatMoney } from "@/components/blocks/money/money";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import { REQUEST_STATUSES } from "@/server/contract/enums";
import { FirstRequest } from "./first-request";
import {
  hasFilter,
  type ListState,
  newRequestHref,
  requestHref,
  requestsHref,
  toRequestsQuery,
} from "./list-state";
import { REQUEST_LOOK, RequestStatusBadge } from "./request-status";

const LOOK_AGAIN_MS = 15_000;

/** A project's capability requests, newest first. */
export function RequestList({
  projectId,
  state,
  baseUrl,
}: {
  projectId: string;
  state: ListState;
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useLive(trpc.requests.list.queryOptions(toRequestsQuery(projectId, state)), LOOK_AGAIN_MS);
  const mayWrite = useProject(projectId).may("member");
  const isEmpty = data.items.length === 0 && !state.cursor;
  const hrefOf = (next: ListState) => requestsHref(projectId, next);
  const write = mayWrite && (
    <Button asChild variant="primary">
      <Link href={newRequestHref(projectId)}>
        <Plus aria-hidden />
        Write request
      </Link>
    </Button>
  );
  return (
    <>
      <PageHeader title="Requests" actions={!(isEmpty && !state.status) && write}>
        Capabilities you've requested, with price and status.
      </PageHeader>
      {!(isEmpty && !state.status) && (
        <FilterBar
          label="Filter requests"
          className="mb-4"
          state={state}
          hrefOf={hrefOf}
          fields={[{ name: "status", label: "Status", any: "Any status", options: STATUSES }]}
        />
      )}
      <ListCard
        noun="requests"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={hasFilter(state)}
        first={<FirstRequest baseUrl={baseUrl} projectId={projectId} action={write} />}
      >
        <ul aria-label="Requests, newest first" className="divide-y divide-line">
          {data.items.map((request) => (
            <li key={request.id} className="relative flex items-center gap-4 px-4 py-3 hover:bg-hover/60">
              <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-5 gap-y-1.5">
                <div className="min-w-0 flex-1 basis-72 max-sm:basis-full">
                  <Link
                    href={requestHref(projectId, request.id)}
                    dir="auto"
                    className="block truncate rounded text-left text-sm font-medium after:absolute after:inset-0 hover:underline"
                  >
                    {request.summary}
                  </Link>
                  <code className="block truncate text-xs text-muted" title={request.id}>
                    {shortId(request.id)} · revision {request.revisionNumber}
                  </code>
                </div>
                <RequestStatusBadge status={request.status} refund={request.refund} />
                <span className="min-w-24 text-sm tabular-nums sm:text-right">
                  {request.price ? formatMoney(request.price) : <span className="text-muted">No price</span>}
                </span>
                <span className="text-sm text-muted sm:w-20 sm:text-right">
                  <Ago at={request.createdAt} />
                </span>
              </div>
              <ChevronRight aria-hidden className="size-4 shrink-0 text-muted sm:hidden" />
            </li>
          ))}
        </ul>
      </ListCard>
    </>
  );
}

const STATUSES = REQUEST_STATUSES.map((value) => ({ value, label: REQUEST_LOOK[value].label }));
