import { z } from "zod";
import { hrefOf, idCursor, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";
import { DeliveryState } from "@/server/contract/webhooks";

const ENDPOINT_ID = /^whe_[0-9a-hjkmnp-tv-z]{26}$/;

/** The delivery log's filters and position as its URL has them. An unknown value counts as absent. */
const LogState = z.object({
  state: DeliveryState.optional().catch(undefined),
  endpoint: z.string().regex(ENDPOINT_ID).optional().catch(undefined),
  ...placeFields(idCursor("dlv")),
});
export type LogState = z.output<typeof LogState>;

const PAGE_SIZE = 25;

/** Parses the state from search parameters. */
export function readLogState(params: SearchParams): LogState {
  return LogState.parse(singleValues(params));
}

/** The webhooks router's query for a state. */
export function toDeliveriesQuery(projectId: string, { state, endpoint, cursor }: LogState) {
  return { projectId, state, endpointId: endpoint, cursor, limit: PAGE_SIZE };
}

/** The URL of a state; without filters or a position it is the bare path. */
export function logHref(projectId: string, state: LogState): string {
  return hrefOf(`/projects/${projectId}/webhooks`, state);
}
