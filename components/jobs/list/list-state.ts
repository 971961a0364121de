import { idOf, listState, oneOf, textParam } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { JOB_OUTCOMES, JOB_STATUSES } from "@/server/contract/enums";

/** The job history's filters and position as its URL has them. An unknown value counts as absent. */
export const { read: readListState, isFiltered: hasFilter } = listState(
  {
    status: oneOf(JOB_STATUSES),
    capability: textParam(128),
    outcome: oneOf(JOB_OUTCOMES),
    tag: textParam(256),
  },
  idOf("wfr"),
);
export type JobListState = ReturnType<typeof readListState>;

const PAGE_SIZE = 25;

/** The jobs router's query for a state. */
export function toJobsQuery(projectId: string, state: JobListState) {
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
export function listHref(projectId: string, state: JobListState): string {
  return hrefOf(`/projects/${projectId}/jobs`, state);
}
