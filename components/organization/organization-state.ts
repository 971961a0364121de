import { addressState, oneOfOr } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";

export const ORGANIZATION_VIEWS = ["people", "projects", "keys", "settings", "log"] as const;

/** The page's view as its URL has it; an unknown value counts as absent. */
export const { read: readOrganizationState } = addressState({ view: oneOfOr("people", ORGANIZATION_VIEWS) });
export type OrganizationState = ReturnType<typeof readOrganizationState>;

export const organizationHref = (projectId: string, { view }: OrganizationState) =>
  hrefOf(`/projects/${projectId}/organization`, { view: view === "people" ? undefined : view });

/** The URL of the audit log's CSV export. */
export const logFileHref = (organizationId: string, query: Record<string, string | undefined>) =>
  hrefOf(`/v1/organizations/${organizationId}/audit-log-export`, query);
