"use client";
import { Plus } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { column } from "@/components/blocks/list/columns";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn } from "@/components/blocks/list/resource-table";
import { formatMoney } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";
import { REQUEST_STATUSES } from "@/server/contract/enums";
import type { ListedRequest } from "@/server/contract/requests";
import { FirstRequest } from "./first-request";
import {
  hasFilter,
  newRequestHref,
  type RequestListState,
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
  state: RequestListState;
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useLive(trpc.requests.list.queryOptions(toRequestsQuery(projectId, state)), LOOK_AGAIN_MS);
  const mayWrite = useProject(projectId).may("member");
  const isEmpty = data.items.length === 0 && !state.cursor;
  const hrefOf = (next: RequestListState) => requestsHref(projectId, next);
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

      <ListTable
        filters={
          !(isEmpty && !state.status) && [
            { name: "status", label: "Status", any: "Any status", options: STATUSES },
          ]
        }
        noun="requests"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={hasFilter(state)}
        first={<FirstRequest baseUrl={baseUrl} projectId={projectId} action={write} />}
        label="Requests, newest first"
        idOf={({ id }) => id}
        columns={columnsOf(projectId)}
      />
    </>
  );
}

const STATUSES = REQUEST_STATUSES.map((value) => ({ value, label: REQUEST_LOOK[value].label }));

const columnsOf = (projectId: string): TableColumn<ListedRequest>[] => [
  column.title("Request", ({ id, summary, revisionNumber }) => (
    <>
      <RowLink href={requestHref(projectId, id)} id={id}>
        {summary}
      </RowLink>
      {revisionNumber > 1 && <span className="text-xs text-muted">Revision {revisionNumber}</span>}
    </>
  )),
  column.status(({ status, refund }) => <RequestStatusBadge status={status} refund={refund} />),
  column.quiet("Price", ({ price }) => (price ? formatMoney(price) : "No price yet")),
  column.ago("Created", ({ createdAt }) => createdAt),
];
