import { Security } from "@/server/contract/security";

/**
 * What an organization asks of its members' sessions, from `organization.settings.security`. Null for settings no one can
 * read: what they asked is unknown, so no one may count as having done it.
 */
export function securityOf(stored: unknown): Security | null {
  return Security.safeParse(stored ?? {}).data ?? null;
}
