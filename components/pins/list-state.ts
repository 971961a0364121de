import { z } from "zod";
import { hrefOf, idCursor, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";

/** Place in a list of the panel as its address carries it. A cursor of no id's form counts as absent. */
const ListPlace = z.object(placeFields(idCursor()));
export type ListPlace = z.output<typeof ListPlace>;

const PAGE_SIZE = 25;

/** Reads the place from search parameters. */
export function readPlace(params: SearchParams): ListPlace {
  return ListPlace.parse(singleValues(params));
}

/** The query of a place, as the routers of pinned records, bulks and manifests take it. */
export function toPageQuery(projectId: string, { cursor }: ListPlace) {
  return { project_id: projectId, cursor, limit: PAGE_SIZE };
}

export const pinnedHref = (projectId: string, place: ListPlace = {}) =>
  hrefOf(`/projects/${projectId}/pinned`, place);
export const recordHref = (projectId: string, receiptId: string) =>
  `/projects/${projectId}/pinned/${receiptId}`;
export const bulksHref = (projectId: string, place: ListPlace = {}) =>
  hrefOf(`/projects/${projectId}/bulks`, place);
export const bulkHref = (projectId: string, bulkId: string) => `/projects/${projectId}/bulks/${bulkId}`;
export const manifestsHref = (projectId: string, place: ListPlace = {}) =>
  hrefOf(`/projects/${projectId}/provenance`, place);
export const manifestHref = (projectId: string, manifestId: string) =>
  `/projects/${projectId}/provenance/${manifestId}`;
