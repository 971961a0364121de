import { z } from "zod";
import { hrefOf, idCursor, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";
import { RequestStatus } from "@/server/contract/requests";

/** The request list's filter and position as its URL has them. An unknown value counts as absent. */
const ListState = z.object({
  status: RequestStatus.optional().catch(undefined),
  ...placeFields(idCursor("cr")),
});
export type ListState = z.output<typeof ListState>;

const PAGE_SIZE = 25;

export function readListState(params: SearchParams): ListState {
  return ListState.parse(singleValues(params));
}

/** The router's query for a state. */
export const toRequestsQuery = (projectId: string, { status, cursor }: ListState) => ({
  project_id: projectId,
  status,
  cursor,
  limit: PAGE_SIZE,
});

export const requestsHref = (projectId: string, state: ListState = {}) =>
  hrefOf(`/projects/${projectId}/requests`, state);
export const requestHref = (projectId: string, requestId: string) =>
  `/projects/${projectId}/requests/${requestId}`;
export const newRequestHref = (projectId: string) => `/projects/${projectId}/requests/new`;
export const reviseHref = (projectId: string, requestId: string) =>
  `${requestHref(projectId, requestId)}/revise`;
