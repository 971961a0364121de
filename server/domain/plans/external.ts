import type { ProjectAccess } from "@/server/domain/access";
import { fail } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";

/**
 * True if executions of this organization may call providers. They may unless its settings turn that off.
 */
export const allowsExternal = (settings: ProjectAccess["organizationSettings"]): boolean =>
  settings.externalActions !== false;

/** URL of the settings page on which an admin can turn calls to providers on and off. */
export const externalSwitchOf = (projectId: string): string =>
  `${publicUrl}/projects/${projectId}/organization?view=settings`;

/** Refuses an execution that would call a provider if the organization has turned such calls off. */
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
