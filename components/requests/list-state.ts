import { z } from "zod";
import { hrefOf, type SearchParams, singleValues } from "@/components/ui/paging";
import { RequestStatus } from "@/server/contract/requests";

const REQUEST_ID = /^cr_[0-9a-hjkmnp-tv-z]{26}$/;

/** Filter and place of the list of requests as its address carries them. A word we do not know counts as absent. */
const ListState = z.object({
  status: RequestStatus.optional().catch(undefined),
  cursor: z.string().regex(REQUEST_ID).optional().catch(undefined),
  trail: z.string().max(2000).optional().catch(undefined),
});
export type ListState = z.output<typeof ListState>;

const PAGE_SIZE = 25;

export function readListState(params: SearchParams): ListState {
  return ListState.parse(singleValues(params));
}

/** The query of a state, as the router takes it. */
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
