import { Security } from "@/server/contract/security";

const NONE: Security = { requireSecondFactor: false, sessionHours: null };

/** What an organization asks of its members' sessions, from `organization.settings.security`. */
export function securityOf(stored: unknown): Security {
  return Security.safeParse(stored ?? {}).data ?? NONE;
}
