"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/data/trpc";
import { ROLES } from "@/server/contract/enums";

type Role = (typeof ROLES)[number];
const WHO: Record<Role, string> = { viewer: "Viewers", member: "Members", admin: "Admins", owner: "Owners" };

/**
 * The project of this page and the reader's rights in it, by the server's rule, so that the panel offers nothing that would
 * be refused.
 */
export function useProject(projectId: string) {
  const { data: projects } = useSuspenseQuery(useTRPC().projects.list.queryOptions());
  const project = projects.find((each) => each.projectId === projectId); // undefined if the reader has just left it
  const may = (least: Role) => project !== undefined && ROLES.indexOf(project.role) <= ROLES.indexOf(least);
  const whyNot = (least: Role, what: string) =>
    `${WHO[least]} of your organization can ${what}. Your role here is ${project?.role ?? "none"}.`;
  return { project, may, whyNot };
}
