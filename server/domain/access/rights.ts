import type { MANAGEMENT_SCOPES } from "@/server/contract/enums";
import type { Role, Scope } from "@/server/domain/ctx";

/** The holders of a right in a project. Keys have it by a scope, people by their role in the organization. */
export type RightRule = {
  /** The scope that a key needs; null if any key of the project has the right. */
  scope: Scope | null;
  /**
   * A further scope that gives a management key the right in its projects, even without `scope`. Absent if
   * there is none.
   */
  manager?: Scope;
  /** The lowest role that allows it. */
  role: Role;
  /** True if an embed session may do this in its project. */
  embeds: boolean;
  /**
   * In an archived project or environment: `open` is allowed, `refused` is not, and `later` returns the
   * refusal instead of throwing. A repeat of a request from before the archiving still gets its answer; for
   * a new request the caller throws the refusal.
   */
  archived: "open" | "refused" | "later";
};

/**
 * Every right in a project: first one for each scope of keys, under its name, then those that need another
 * right's scope or none.
 */
export const RIGHTS = {
  "jobs:read": { scope: "jobs:read", role: "viewer", embeds: false, archived: "open" },
  "billing:read": { scope: "billing:read", role: "viewer", embeds: false, archived: "open" },
  "diagnostics:read": { scope: "diagnostics:read", role: "viewer", embeds: false, archived: "open" },
  "capabilities:run": { scope: "capabilities:run", role: "member", embeds: true, archived: "refused" },
  "jobs:write": { scope: "jobs:write", role: "member", embeds: true, archived: "refused" },
  "pinned:run": { scope: "pinned:run", role: "member", embeds: false, archived: "refused" },
  "provenance:write": { scope: "provenance:write", role: "member", embeds: false, archived: "refused" },
  "requests:write": { scope: "requests:write", role: "member", embeds: false, archived: "refused" },
  "adapters:write": { scope: "adapters:write", role: "member", embeds: false, archived: "refused" },
  "webhooks:write": { scope: "webhooks:write", role: "member", embeds: false, archived: "refused" },
  "approvals:write": { scope: "approvals:write", role: "member", embeds: false, archived: "refused" },
  "credentials:write": { scope: "credentials:write", role: "admin", embeds: false, archived: "refused" },
  "budgets:write": { scope: "budgets:write", role: "admin", embeds: false, archived: "open" },
  "keys:write": { scope: "keys:write", role: "member", embeds: false, archived: "open" },
  "settings:write": { scope: "settings:write", role: "admin", embeds: false, archived: "open" },

  // Every member and key of a project sees its catalog.
  "catalog:read": { scope: null, role: "viewer", embeds: false, archived: "open" },
  // A management key may read whatever it may change.
  "webhooks:read": {
    scope: "jobs:read",
    manager: "webhooks:write",
    role: "viewer",
    embeds: false,
    archived: "open",
  },
  "budgets:read": {
    scope: "billing:read",
    manager: "budgets:write",
    role: "viewer",
    embeds: false,
    archived: "open",
  },
  // Replaying an idempotency key returns the first answer, even after the project was archived.
  "jobs:submit": { scope: "capabilities:run", role: "member", embeds: true, archived: "later" },
  "pins:submit": { scope: "pinned:run", role: "member", embeds: false, archived: "later" },
  "requests:create": { scope: "requests:write", role: "member", embeds: false, archived: "later" },
  // Archiving a project does not stop its work, so it must remain possible to stop it.
  "jobs:cancel": { scope: "jobs:write", role: "member", embeds: true, archived: "open" },
  "pins:cancel": { scope: "pinned:run", role: "member", embeds: false, archived: "open" },
} as const satisfies Record<Scope, RightRule> & Record<string, RightRule>;

export type ProjectRight = keyof typeof RIGHTS;

/** The scope that a key needs for a right; null if any key has it. */
export const scopeOf = (right: ProjectRight): Scope | null => RIGHTS[right].scope;

/**
 * A right that `authorize` checks: a right in a project; a role in an organization, which keys never have; or
 * operating this installation.
 */
export type Right = ProjectRight | Role | "operator";

/** The rights that a management key can have. */
export type ManagementRight = (typeof MANAGEMENT_SCOPES)[number];

/** The rights whose refusal in an archived project is returned, not thrown. */
export type RepeatableRight = {
  [Name in ProjectRight]: (typeof RIGHTS)[Name]["archived"] extends "later" ? Name : never;
}[ProjectRight];

const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

export const isRole = (right: Right): right is Role => Object.hasOwn(RANK, right);

export function isRoleAtLeast(role: Role, least: Role): boolean {
  return RANK[role] >= RANK[least];
}

/** True if a person with this role may use the right. */
export function isAllowed(role: Role, right: ProjectRight): boolean {
  return isRoleAtLeast(role, RIGHTS[right].role);
}
