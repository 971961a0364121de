import { z } from "zod";
import { hrefOf, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";
import { BulkItemStatus } from "@/server/contract/pinned";

/** Which items of a bulk are looked at, as the address carries it. A word we do not know counts as absent. */
const ItemState = z.object({
  status: BulkItemStatus.optional().catch(undefined),
  ...placeFields(/^\w{1,64}$/),
});
export type ItemState = z.output<typeof ItemState>;

/** Rows of one page of the item table, however many items there are. */
const PAGE_SIZE = 50;

/** Reads the state from search parameters. */
export function readItemState(params: SearchParams): ItemState {
  return ItemState.parse(singleValues(params));
}

/** The query of a state, as the bulks router takes it. */
export function toBulkQuery(bulkId: string, { status, cursor }: ItemState) {
  return { bulk_id: bulkId, status, cursor, limit: PAGE_SIZE };
}

/** The address of a state; without a filter or a place it is the bare path. */
export function itemsHref(projectId: string, bulkId: string, state: ItemState): string {
  return hrefOf(`/projects/${projectId}/bulks/${bulkId}`, state);
}
