import { z } from "zod";
import { Project, Role } from "@/server/contract/organizations";
import { allCapabilities } from "@/server/domain/catalog";
import { listAllProjects, listOrganizations, nameOfCaller } from "@/server/domain/organizations";
import * as api from "@/server/operations/organizations";
import { human, router } from "../init";
import { mutation, query } from "../of";

/** A project as the switcher shows it: with the name of its organization and the reader's role. */
const ProjectChoice = Project.pick({ projectId: true, displayName: true, organizationId: true }).extend({
  isArchived: z.boolean(),
  organizationName: z.string(),
  role: Role,
  environments: z.array(z.string()),
});

export const projectsRouter = router({
  /** The projects of the organizations that the person belongs to, active ones first, with no others for operators. */
  list: human.output(z.array(ProjectChoice)).query(async ({ ctx }) => {
    const { memberships } = ctx.principal;
    const [projects, organizations] = await Promise.all([listAllProjects(ctx), listOrganizations(ctx)]);
    const nameOf = new Map(organizations.map((each) => [each.organizationId, each.displayName]));
    return projects.flatMap((project) => {
      const role = memberships.get(project.organizationId);
      if (!role) return [];
      return {
        projectId: project.projectId,
        displayName: project.displayName,
        isArchived: project.status !== "active",
        organizationId: project.organizationId,
        organizationName: nameOf.get(project.organizationId) ?? project.organizationId,
        role,
        environments: project.environments.map(({ slug }) => slug),
      };
    });
  }),
  approvalRules: query(api.getApprovalRules),
  setApprovalRules: mutation(api.setApprovalRules),
  /** The display name of a caller in a project; null if they are not in its organization, or were removed. */
  caller: human
    .input(z.object({ project_id: z.string().min(1).max(64), principal_id: z.string().min(1).max(64) }))
    .output(z.object({ name: z.string().nullable() }))
    .query(async ({ ctx, input }) => ({
      name: await nameOfCaller(ctx, input.project_id, input.principal_id),
    })),
  /** Capability keys, to filter by. */
  capabilities: human.output(z.array(z.string())).query(() => allCapabilities.map(({ key }) => key).sort()),
});
