import { z } from "zod";
import {
  FIRST_PAGE,
  hrefOf,
  idCursor,
  placeFields,
  type SearchParams,
  singleValues,
} from "@/components/ui/paging";
import { JobStatus, ListProjectJobs } from "@/server/contract/jobs";

/** The job history's filters and position as its URL has them. An unknown value counts as absent. */
const ListState = z.object({
  status: JobStatus.optional().catch(undefined),
  capability: z.string().min(1).max(128).optional().catch(undefined),
  outcome: ListProjectJobs.shape.outcome.catch(undefined),
  tag: z.string().min(1).max(256).optional().catch(undefined),
  /** A job id; any other value starts at the newest page. */
  ...placeFields(idCursor("wfr")),
});
export type ListState = z.output<typeof ListState>;

export const PAGE_SIZE = 25;

/** Parses the state from search parameters. */
export function readListState(params: SearchParams): ListState {
  return ListState.parse(singleValues(params));
}

/** The jobs router's query for a state. */
export function toJobsQuery(projectId: string, state: ListState) {
  return {
    project_id: projectId,
    status: state.status,
    capabilityKey: state.capability,
    outcome: state.outcome,
    tag: state.tag ? [state.tag] : undefined,
    cursor: state.cursor,
    limit: PAGE_SIZE,
  };
}

/** The URL of a state; without filters or a position it is the bare path. */
export function listHref(projectId: string, state: ListState): string {
  return hrefOf(`/projects/${projectId}/jobs`, state);
}

/** The state with changed filters, which starts at the newest page again. */
export function withFilter(state: ListState, change: Partial<ListState>): ListState {
  return { ...state, ...change, ...FIRST_PAGE };
}

export function hasFilter(state: ListState): boolean {
  return Boolean(state.status || state.capability || state.outcome || state.tag);
}
