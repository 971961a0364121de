import { z } from "zod";
import { Project, Role } from "@/server/contract/organizations";
import { allCapabilities } from "@/server/domain/catalog";
import { listJoinedProjects, nameOfCaller } from "@/server/domain/organizations";
import * as api from "@/server/operations/organizations";
import { router } from "../init";
import { mutation, Nothing, query, reads } from "../of";

/** A project as the switcher shows it: with the name of its organization and the reader's role. */
const ProjectChoice = Project.pick({ projectId: true, displayName: true, organizationId: true }).extend({
  isArchived: z.boolean(),
  organizationName: z.string(),
  role: Role,
  environments: z.array(z.string()),
});

export const projectsRouter = router({
  list: reads(Nothing, z.array(ProjectChoice), listJoinedProjects),
  approvalRules: query(api.getApprovalRules),
  setApprovalRules: mutation(api.setApprovalRules),
  /**
   * The name of the key, or the email address of the person, with this id; null if they are not in the
   * organization of the project, or were removed.
   */
  caller: reads(
    z.object({ project_id: z.string().min(1).max(64), principal_id: z.string().min(1).max(64) }),
    z.object({ name: z.string().nullable() }),
    async (ctx, input) => ({
      name: await nameOfCaller(ctx, input.project_id, input.principal_id),
    }),
  ),
  /** Capability keys, to filter by. */
  capabilities: reads(Nothing, z.array(z.string()), () => allCapabilities.map(({ key }) => key).sort()),
});
