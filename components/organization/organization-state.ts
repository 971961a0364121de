import { z } from "zod";
import { hrefOf, type SearchParams, singleValues } from "@/components/ui/paging";

export const VIEWS = ["people", "projects", "keys", "settings", "log"] as const;

const State = z.object({ view: z.enum(VIEWS).catch("people") });
export type OrganizationState = z.output<typeof State>;

/** What the room shows, as its address says; what it does not know counts as absent. */
export const readOrganizationState = (params: SearchParams): OrganizationState =>
  State.parse(singleValues(params));

export const organizationHref = (projectId: string, { view }: OrganizationState) =>
  hrefOf(`/projects/${projectId}/organization`, { view: view === "people" ? undefined : view });

/** The address of the audit log as a file. */
export const logFileHref = (organizationId: string, query: Record<string, string | undefined>) =>
  hrefOf(`/v1/organizations/${organizationId}/audit-log-export`, query);
