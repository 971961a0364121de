"use client";
import { Plus } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { formatMoney } from "@/components/blocks/money/money";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";
import { REQUEST_STATUSES } from "@/server/contract/enums";
import type { ListedRequest } from "@/server/contract/requests";
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
        <ResourceTable
          label="Requests, newest first"
          rows={data.items}
          idOf={({ id }) => id}
          columns={columnsOf(projectId)}
        />
      </ListCard>
    </>
  );
}

const STATUSES = REQUEST_STATUSES.map((value) => ({ value, label: REQUEST_LOOK[value].label }));

const columnsOf = (projectId: string): Column<ListedRequest>[] => [
  {
    header: "Request",
    card: "title",
    className: "w-1/2 max-w-0",
    cell: ({ id, summary, revisionNumber }) => (
      <>
        <Link
          href={requestHref(projectId, id)}
          dir="auto"
          title={id}
          className="block truncate rounded font-medium after:absolute after:inset-0 hover:underline"
        >
          {summary}
        </Link>
        {revisionNumber > 1 && <span className="text-xs text-muted">Revision {revisionNumber}</span>}
      </>
    ),
  },
  {
    header: "Status",
    card: "status",
    cell: ({ status, refund }) => <RequestStatusBadge status={status} refund={refund} />,
  },
  {
    header: "Price",
    align: "end",
    cell: ({ price }) => (price ? formatMoney(price) : <span className="text-muted">No price yet</span>),
  },
  {
    header: "Created",
    align: "end",
    className: "text-muted",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];
