"use client";
import { Lightbulb, Plus } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { formatMoney } from "@/components/blocks/money/money";
import { postCommand, Snippet } from "@/components/pins/first-pin";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { REQUEST_STATUSES } from "@/server/contract/enums";
import type { ListedRequest } from "@/server/contract/requests";
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

/** Shown in a project without requests: how an agent or a person files one. */
function FirstRequest({
  baseUrl,
  projectId,
  action,
}: {
  baseUrl: string;
  projectId: string;
  action: React.ReactNode;
}) {
  return (
    <EmptyState icon={Lightbulb} title="Request a missing capability" action={action}>
      <p>
        When an agent finds nothing with <code className="text-sm">/v1/capabilities/resolve</code>, it can
        file a request and submit it. An operator quotes a price, and only a person in your organization can
        pay. Set an API key as <code className="text-sm">CAPSTAN_API_KEY</code> and file a request:
      </p>
      <Snippet what="command" code={firstRequestCommand(baseUrl, projectId)} />
    </EmptyState>
  );
}

function firstRequestCommand(baseUrl: string, projectId: string): string {
  return postCommand(
    baseUrl,
    "/v1/capability-requests",
    `{
    "projectId": "${projectId}",
    "summary": "Read measurements off a technical drawing",
    "need": "A PDF page goes in; every dimension with its unit comes out.",
    "acceptanceCases": [
      { "input": { "page": 1 }, "expected": { "dimensions": 12 } }
    ]
  }`,
  );
}
