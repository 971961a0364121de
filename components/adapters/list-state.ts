import { idOf, listState, matchingParam, oneOf, searchParam } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { SOURCE_HEALTHS } from "@/server/contract/enums";

/** The default environment, as in the API. */
const USUAL_ENVIRONMENT = "development";

const environment = matchingParam(/^[a-z0-9][a-z0-9-]{0,62}$/);
/** The environment and the page of a list, from the URL. Unknown values are ignored. */
export const { read: readPageState } = listState({ environment }, idOf());
export type PageState = ReturnType<typeof readPageState>;

/** The environment, the page and the filters of the adapter list, from the URL. */
export const { read: readListState } = listState(
  { environment, q: searchParam(200), family: searchParam(128), health: oneOf(SOURCE_HEALTHS) },
  idOf(),
);
export type AdapterListState = ReturnType<typeof readListState>;

const PAGE_SIZE = 25;

/** The router's input for a state. */
export const toAdaptersQuery = (projectId: string, { q, family, health, ...page }: AdapterListState) => ({
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

export const hasFilter = ({ q, family, health }: AdapterListState): boolean => Boolean(q || family || health);

/** The environment to show: the one in the URL, else the default. */
export const environmentOf = ({ environment }: { environment?: string | undefined }): string =>
  environment ?? USUAL_ENVIRONMENT;
/** The environment for the URL, which omits the default one. */
const named = (environment: string | undefined) =>
  environment === USUAL_ENVIRONMENT ? undefined : environment;
const inRoom = (path: string, { environment, ...state }: Record<string, string | undefined>) =>
  hrefOf(path, { environment: named(environment), ...state });

const room = (projectId: string) => `/projects/${projectId}/adapters`;
export const adaptersHref = (projectId: string, state: AdapterListState = {}) =>
  inRoom(room(projectId), state);
export const adapterHref = (projectId: string, adapterId: string) => `${room(projectId)}/${adapterId}`;
export const newAdapterHref = (projectId: string, environment: string | undefined) =>
  inRoom(`${room(projectId)}/new`, { environment });
export const aliasesHref = (projectId: string, page: PageState = {}) =>
  inRoom(`${room(projectId)}/aliases`, page);
export const aliasHref = (projectId: string, alias: string, page: PageState = {}) =>
  inRoom(`${room(projectId)}/aliases/${encodeURIComponent(alias)}`, page);
export const defaultsHref = (projectId: string, environment: string | undefined) =>
  inRoom(`${room(projectId)}/defaults`, { environment });
