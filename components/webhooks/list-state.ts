import { idOf, listState, oneOf } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { DELIVERY_STATES } from "@/server/contract/enums";

/** The delivery log's filters and position as its URL has them. An unknown value counts as absent. */
export const { read: readLogState, isFiltered: hasFilter } = listState(
  { state: oneOf(DELIVERY_STATES), endpoint: idOf("whe") },
  idOf("dlv"),
);
export type LogState = ReturnType<typeof readLogState>;

const PAGE_SIZE = 25;

/** The webhooks router's query for a state. */
export function toDeliveriesQuery(projectId: string, { state, endpoint, cursor }: LogState) {
  return { projectId, state, endpointId: endpoint, cursor, limit: PAGE_SIZE };
}

/** The URL of a state; without filters or a position it is the bare path. */
export function logHref(projectId: string, state: LogState): string {
  return hrefOf(`/projects/${projectId}/webhooks`, state);
}
