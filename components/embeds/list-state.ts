import { idOf, listState, oneOf, textParam } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";
import { EMBED_SESSION_STATUSES } from "@/server/contract/enums";

/** The session list's filters and position as its URL has them. An unknown value counts as absent. */
export const { read: readSessionState, isFiltered: hasFilter } = listState(
  { panel: idOf("pdef"), status: oneOf(EMBED_SESSION_STATUSES), subject: textParam(255) },
  idOf("pses"),
);
export type SessionState = ReturnType<typeof readSessionState>;

const PAGE_SIZE = 25;

/** The panels router's query for a state. */
export function toSessionsQuery(projectId: string, { panel, status, subject, cursor }: SessionState) {
  return {
    project_id: projectId,
    definition_id: panel,
    status,
    external_subject: subject,
    cursor,
    limit: PAGE_SIZE,
  };
}

/** The URL of a state; without filters or a position it is the bare path. */
export function sessionsHref(projectId: string, state: SessionState): string {
  return hrefOf(`/projects/${projectId}/panels`, state);
}
