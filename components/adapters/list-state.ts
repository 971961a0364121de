import { z } from "zod";
import {
  FIRST_PAGE,
  hrefOf,
  idCursor,
  placeFields,
  type SearchParams,
  singleValues,
} from "@/components/ui/paging";
import { SourceHealthStatus } from "@/server/contract/adapters";
import { EnvironmentSlug } from "@/server/contract/organizations";

/** The default environment, as in the API. */
const USUAL_ENVIRONMENT = "development";

const Page = z.object({
  environment: EnvironmentSlug.optional().catch(undefined),
  ...placeFields(idCursor()),
});
/** The environment and the page of a list, from the URL. Unknown values are ignored. */
export type PageState = z.output<typeof Page>;

const word = (most: number) =>
  z
    .string()
    .trim()
    .transform((text) => text.slice(0, most) || undefined)
    .optional();
const ListState = Page.extend({
  q: word(200),
  family: word(128),
  health: SourceHealthStatus.optional().catch(undefined),
});
/** The same, with the filters of the adapter list. */
export type ListState = z.output<typeof ListState>;

const PAGE_SIZE = 25;

export const readListState = (params: SearchParams): ListState => ListState.parse(singleValues(params));
export const readPageState = (params: SearchParams): PageState => Page.parse(singleValues(params));

/** The router's input for a state. */
export const toAdaptersQuery = (projectId: string, { q, family, health, ...page }: ListState) => ({
  ...toPageQuery(projectId, page),
  q,
  baseModelFamily: family,
  health,
});
export const toPageQuery = (projectId: string, { environment, cursor }: PageState) => ({
  projectId,
  environment,
  cursor,
  limit: PAGE_SIZE,
});

/** The first page with other filters. */
export const withFilter = (state: ListState, change: Partial<ListState>): ListState => ({
  ...state,
  ...change,
  ...FIRST_PAGE,
});
export const hasFilter = ({ q, family, health }: ListState): boolean => Boolean(q || family || health);

/** The environment to show: the one in the URL, else the default. */
export const environmentOf = ({ environment }: { environment?: string | undefined }): string =>
  environment ?? USUAL_ENVIRONMENT;
/** As in the URL, where the default environment is left out. */
const named = (environment: string | undefined) =>
  environment === USUAL_ENVIRONMENT ? undefined : environment;
const inRoom = (path: string, { environment, ...state }: Record<string, string | undefined>) =>
  hrefOf(path, { environment: named(environment), ...state });

const room = (projectId: string) => `/projects/${projectId}/adapters`;
export const adaptersHref = (projectId: string, state: ListState = {}) => inRoom(room(projectId), state);
export const adapterHref = (projectId: string, adapterId: string) => `${room(projectId)}/${adapterId}`;
export const newAdapterHref = (projectId: string, environment: string | undefined) =>
  inRoom(`${room(projectId)}/new`, { environment });
export const aliasesHref = (projectId: string, page: PageState = {}) =>
  inRoom(`${room(projectId)}/aliases`, page);
export const aliasHref = (projectId: string, alias: string, page: PageState = {}) =>
  inRoom(`${room(projectId)}/aliases/${encodeURIComponent(alias)}`, page);
export const defaultsHref = (projectId: string, environment: string | undefined) =>
  inRoom(`${room(projectId)}/defaults`, { environment });
