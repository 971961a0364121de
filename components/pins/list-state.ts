import { idOf, listState } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";

/** A position in a list as its URL has it. A cursor that is not an id counts as absent. */
export const { read: readPlace } = listState({}, idOf());
export type PinListPosition = ReturnType<typeof readPlace>;

const PAGE_SIZE = 25;

/** The query for a position, as the routers of pinned records, bulks and manifests accept it. */
export function toPinPageQuery(projectId: string, { cursor }: PinListPosition) {
  return { projectId, cursor, limit: PAGE_SIZE };
}

export const pinnedHref = (projectId: string, place: PinListPosition = {}) =>
  hrefOf(`/projects/${projectId}/pinned`, place);
export const recordHref = (projectId: string, receiptId: string) =>
  `/projects/${projectId}/pinned/${receiptId}`;
export const bulksHref = (projectId: string, place: PinListPosition = {}) =>
  hrefOf(`/projects/${projectId}/bulks`, place);
export const bulkHref = (projectId: string, bulkId: string) => `/projects/${projectId}/bulks/${bulkId}`;
export const manifestsHref = (projectId: string, place: PinListPosition = {}) =>
  hrefOf(`/projects/${projectId}/provenance`, place);
export const manifestHref = (projectId: string, manifestId: string) =>
  `/projects/${projectId}/provenance/${manifestId}`;
