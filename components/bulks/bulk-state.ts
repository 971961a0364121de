import { z } from "zod";
import { hrefOf, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";
import { BulkItemStatus } from "@/server/contract/pinned";

/** The filter and page of the item table, from the URL. Unknown values are ignored. */
const ItemState = z.object({
  status: BulkItemStatus.optional().catch(undefined),
  ...placeFields(/^\w{1,64}$/),
});
export type ItemState = z.output<typeof ItemState>;

/** Rows per page of the item table. */
const PAGE_SIZE = 50;

/** Reads the state from search parameters. */
export function readItemState(params: SearchParams): ItemState {
  return ItemState.parse(singleValues(params));
}

/** The bulks router's input for a state. */
export function toBulkQuery(bulkId: string, { status, cursor }: ItemState) {
  return { bulk_id: bulkId, status, cursor, limit: PAGE_SIZE };
}

/** The URL of a state; without a filter or a page it is the bare path. */
export function itemsHref(projectId: string, bulkId: string, state: ItemState): string {
  return hrefOf(`/projects/${projectId}/bulks/${bulkId}`, state);
}
