import type { ProjectAccess } from "@/server/domain/access";
import { fail } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";

/** Do executions of this organization reach providers? They do unless an owner switched them off. */
export const allowsExternal = (settings: ProjectAccess["organizationSettings"]): boolean =>
  settings.externalActions !== false;

/** Where an owner switches them. */
export const externalSwitchOf = (projectId: string): string =>
  `${publicUrl}/projects/${projectId}/organization?view=settings`;

/** Refuses an execution that would leave for a provider, where the organization has switched that off. */
export function requireExternal({
  id,
  organizationSettings,
}: Pick<ProjectAccess, "id" | "organizationSettings">): void {
  if (allowsExternal(organizationSettings)) return;
  fail(
    "EXTERNAL_ACTIONS_DISABLED",
    "This organization has turned off executions that call a provider. An admin can turn them on in its settings.",
    {
      upgradeUrl: externalSwitchOf(id),
    },
  );
}
