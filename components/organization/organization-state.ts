import { z } from "zod";
import { hrefOf, type SearchParams, singleValues } from "@/components/ui/paging";

export const VIEWS = ["people", "projects", "keys", "settings", "log"] as const;

const State = z.object({ view: z.enum(VIEWS).catch("people") });
export type OrganizationState = z.output<typeof State>;

/** The page's view as its URL has it; an unknown value counts as absent. */
export const readOrganizationState = (params: SearchParams): OrganizationState =>
  State.parse(singleValues(params));

export const organizationHref = (projectId: string, { view }: OrganizationState) =>
  hrefOf(`/projects/${projectId}/organization`, { view: view === "people" ? undefined : view });

/** The URL of the audit log's CSV export. */
export const logFileHref = (organizationId: string, query: Record<string, string | undefined>) =>
  hrefOf(`/v1/organizations/${organizationId}/audit-log-export`, query);
