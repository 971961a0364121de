import type { z } from "zod";
import { Role } from "@/server/contract/organizations";

export const ROLES = Role.options; // highest first
export type RoleName = z.output<typeof Role>;

/** Is this role as high as that one? What the server decides, so that nothing is offered that it would refuse. */
export const isAsHigh = (role: RoleName, least: RoleName) => ROLES.indexOf(role) <= ROLES.indexOf(least);

export const MEANING: Record<RoleName, string> = {
  owner: "Everything, owners included",
  admin: "People, projects, accounts and settings",
  member: "Runs and approves work, makes keys",
  viewer: "Reads",
};
