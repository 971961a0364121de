import { Security } from "@/server/contract/security";

/**
 * Requirements of an organization for its members' sessions, from `organization.settings.security`. Null if
 * the settings are damaged: the requirement is then unknown, so no one may count as meeting it.
 */
export function securityOf(stored: unknown): Security | null {
  return Security.safeParse(stored ?? {}).data ?? null;
}
