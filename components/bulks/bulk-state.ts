import { listState, matchingParam, oneOf } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { BULK_ITEM_STATUSES } from "@/server/contract/enums";

/** The filter and page of the item table, from the URL. Unknown values are ignored. */
export const { read: readItemState } = listState(
  { status: oneOf(BULK_ITEM_STATUSES) },
  matchingParam(/^\w{1,64}$/),
);
export type ItemState = ReturnType<typeof readItemState>;

/** Rows per page of the item table. */
const PAGE_SIZE = 50;

/** The bulks router's input for a state. */
export function toBulkQuery(bulkId: string, { status, cursor }: ItemState) {
  return { bulk_id: bulkId, status, cursor, limit: PAGE_SIZE };
}

/** The URL of a state; without a filter or a page it is the bare path. */
export function itemsHref(projectId: string, bulkId: string, state: ItemState): string {
  return hrefOf(`/projects/${projectId}/bulks/${bulkId}`, state);
}
