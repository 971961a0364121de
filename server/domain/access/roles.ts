import type { Role, Scope } from "@/server/domain/ctx";

const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

/** The least role a person needs for a right that keys have as a scope: reading for all, secrets for admins. */
function leastRole(right: Scope): Role {
  if (right.endsWith(":read")) return "viewer";
  return right === "credentials:write" ? "admin" : "member";
}

/** Is this role as high as that one? */
export function isAtLeast(role: Role, least: Role): boolean {
  return RANK[role] >= RANK[least];
}

/** May a person of this role do what the scope allows a key? */
export function isAllowed(role: Role, right: Scope): boolean {
  return isAtLeast(role, leastRole(right));
}
