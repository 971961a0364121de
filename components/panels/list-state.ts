import { z } from "zod";
import { hrefOf, idCursor, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";
import { PanelSessionStatus } from "@/server/contract/panels";

const DEFINITION_ID = /^pdef_[0-9a-hjkmnp-tv-z]{26}$/;

/** The session list's filters and position as its URL has them. An unknown value counts as absent. */
const SessionState = z.object({
  panel: z.string().regex(DEFINITION_ID).optional().catch(undefined),
  status: PanelSessionStatus.optional().catch(undefined),
  subject: z.string().min(1).max(255).optional().catch(undefined),
  ...placeFields(idCursor("pses")),
});
export type SessionState = z.output<typeof SessionState>;

const PAGE_SIZE = 25;

export function readSessionState(params: SearchParams): SessionState {
  return SessionState.parse(singleValues(params));
}

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
