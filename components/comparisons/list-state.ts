import { z } from "zod";
import {
  FIRST_PAGE,
  hrefOf,
  idCursor,
  placeFields,
  type SearchParams,
  singleValues,
} from "@/components/ui/paging";
import { ComparisonStatus } from "@/server/contract/comparisons";

/** The filters and page of the comparison list, from the URL. Unknown values are ignored. */
const ListState = z.object({
  status: ComparisonStatus.optional().catch(undefined),
  capability: z.string().min(1).max(128).optional().catch(undefined),
  judged: z.enum(["yes", "no"]).optional().catch(undefined),
  ...placeFields(idCursor("cmp")),
});
export type ListState = z.output<typeof ListState>;

const PAGE_SIZE = 25;

/** Reads the state from search parameters. */
export function readListState(params: SearchParams): ListState {
  return ListState.parse(singleValues(params));
}

/** The comparisons router's input for a state. */
export function toComparisonsQuery(projectId: string, { status, capability, judged, cursor }: ListState) {
  return {
    project_id: projectId,
    status,
    capabilityKey: capability,
    judged: judged && judged === "yes",
    cursor,
    limit: PAGE_SIZE,
  };
}

/** The state with other filters, at the newest page. */
export function withFilter(state: ListState, change: Partial<ListState>): ListState {
  return { ...state, ...change, ...FIRST_PAGE };
}

export const hasFilter = (state: ListState) => Boolean(state.status || state.capability || state.judged);

/** The URL of a state; without a filter or a page it is the bare path. */
export const comparisonsHref = (projectId: string, state: ListState = {}) =>
  hrefOf(`/projects/${projectId}/comparisons`, state);
export const comparisonHref = (projectId: string, comparisonId: string) =>
  `/projects/${projectId}/comparisons/${comparisonId}`;
/** The URL of a new comparison; `isCarried`: with the input carried over from the playground. */
export const newComparisonHref = (projectId: string, capabilityKey?: string, isCarried = false) =>
  hrefOf(`/projects/${projectId}/comparisons/new`, {
    capability: capabilityKey,
    from: isCarried ? "playground" : undefined,
  });
