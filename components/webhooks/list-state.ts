import { z } from "zod";
import { hrefOf, idCursor, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";
import { DeliveryState } from "@/server/contract/webhooks";

const ENDPOINT_ID = /^whe_[0-9a-hjkmnp-tv-z]{26}$/;

/** Filters and place of the delivery log as its address carries them. A word we do not know counts as absent. */
const LogState = z.object({
  state: DeliveryState.optional().catch(undefined),
  endpoint: z.string().regex(ENDPOINT_ID).optional().catch(undefined),
  ...placeFields(idCursor("dlv")),
});
export type LogState = z.output<typeof LogState>;

const PAGE_SIZE = 25;

/** Reads the state from search parameters. */
export function readLogState(params: SearchParams): LogState {
  return LogState.parse(singleValues(params));
}

/** The query of a state, as the webhooks router takes it. */
export function toDeliveriesQuery(projectId: string, { state, endpoint, cursor }: LogState) {
  return { project_id: projectId, state, endpointId: endpoint, cursor, limit: PAGE_SIZE };
}

/** The address of a state; without a filter or a place it is the bare path. */
export function logHref(projectId: string, state: LogState): string {
  return hrefOf(`/projects/${projectId}/webhooks`, state);
}
