import { ROLES } from "@/server/contract/enums";

export { ROLES };
export type RoleName = (typeof ROLES)[number];

/**
 * True if this role is at least as high as that one. This is the server's rule, so that the panel offers nothing that would
 * be refused.
 */
export const isAsHigh = (role: RoleName, least: RoleName) => ROLES.indexOf(role) <= ROLES.indexOf(least);

export const MEANING: Record<RoleName, string> = {
  owner: "Full access, including managing owners",
  admin: "Manages people, projects, connections and settings",
  member: "Runs and approves jobs, creates keys",
  viewer: "Read-only access",
};
