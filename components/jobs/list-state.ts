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

/** Filters and place of the job history as its address carries them. A word we do not know counts as absent. */
const ListState = z.object({
  status: JobStatus.optional().catch(undefined),
  capability: z.string().min(1).max(128).optional().catch(undefined),
  outcome: ListProjectJobs.shape.outcome.catch(undefined),
  tag: z.string().min(1).max(256).optional().catch(undefined),
  /** A job id; whatever else stands there, the history begins at its newest page. */
  ...placeFields(idCursor("wfr")),
});
export type ListState = z.output<typeof ListState>;

export const PAGE_SIZE = 25;

/** Reads the state from search parameters. */
export function readListState(params: SearchParams): ListState {
  return ListState.parse(singleValues(params));
}

/** The query of a state, as the jobs router takes it. */
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

/** The address of a state; without a filter or a place it is the bare path. */
export function listHref(projectId: string, state: ListState): string {
  return hrefOf(`/projects/${projectId}/jobs`, state);
}

/** The state with other filters; a change of filter starts at the newest page again. */
export function withFilter(state: ListState, change: Partial<ListState>): ListState {
  return { ...state, ...change, ...FIRST_PAGE };
}

export function hasFilter(state: ListState): boolean {
  return Boolean(state.status || state.capability || state.outcome || state.tag);
}
