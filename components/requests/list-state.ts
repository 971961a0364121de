import { idOf, listState, oneOf } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { REQUEST_STATUSES } from "@/server/contract/enums";

/** The request list's filter and position as its URL has them. An unknown value counts as absent. */
export const { read: readListState, isFiltered: hasFilter } = listState(
  { status: oneOf(REQUEST_STATUSES) },
  idOf("cr"),
);
export type RequestListState = ReturnType<typeof readListState>;

const PAGE_SIZE = 25;

/** The router's query for a state. */
export const toRequestsQuery = (projectId: string, { status, cursor }: RequestListState) => ({
  project_id: projectId,
  status,
  cursor,
  limit: PAGE_SIZE,
});

export const requestsHref = (projectId: string, state: RequestListState = {}) =>
  hrefOf(`/projects/${projectId}/requests`, state);
export const requestHref = (projectId: string, requestId: string) =>
  `/projects/${projectId}/requests/${requestId}`;
export const newRequestHref = (projectId: string) => `/projects/${projectId}/requests/new`;
export const reviseHref = (projectId: string, requestId: string) =>
  `${requestHref(projectId, requestId)}/revise`;
