import { idOf, listState, oneOf, textParam } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { COMPARISON_STATUSES } from "@/server/contract/enums";

/** The filters and page of the comparison list, from the URL. Unknown values are ignored. */
export const { read: readListState, isFiltered: hasFilter } = listState(
  { status: oneOf(COMPARISON_STATUSES), capability: textParam(128), judged: oneOf(["yes", "no"]) },
  idOf("cmp"),
);
export type ComparisonListState = ReturnType<typeof readListState>;

const PAGE_SIZE = 25;

/** The comparisons router's input for a state. */
export function toComparisonsQuery(
  projectId: string,
  { status, capability, judged, cursor }: ComparisonListState,
) {
  return {
    project_id: projectId,
    status,
    capabilityKey: capability,
    judged: judged && judged === "yes",
    cursor,
    limit: PAGE_SIZE,
  };
}

/** The URL of a state; without a filter or a page it is the bare path. */
export const comparisonsHref = (projectId: string, state: ComparisonListState = {}) =>
  hrefOf(`/projects/${projectId}/comparisons`, state);
export const comparisonHref = (projectId: string, comparisonId: string) =>
  `/projects/${projectId}/comparisons/${comparisonId}`;
/** The URL of a new comparison; `isCarried`: with the input carried over from the playground. */
export const newComparisonHref = (projectId: string, capabilityKey?: string, isCarried = false) =>
  hrefOf(`/projects/${projectId}/comparisons/new`, {
    capability: capabilityKey,
    from: isCarried ? "playground" : undefined,
  });
