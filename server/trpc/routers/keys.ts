import { z } from "zod";
import { ProjectRef } from "@/server/contract/jobs";
import { CreateManagementKey } from "@/server/contract/management-keys";
import { ApiKey, CreateApiKey, NewApiKey } from "@/server/contract/organizations";
import { access } from "@/server/domain/access";
import { createManagementKey } from "@/server/domain/management";
import { createKey, listKeys } from "@/server/domain/organizations";
import * as api from "@/server/operations/keys";
import { human, router } from "../init";
import { mutation } from "../of";

export const keysRouter = router({
  /** Keys that work in a project: those bound to it, and those for all projects of its organization. */
  list: human
    .input(ProjectRef)
    .output(z.array(ApiKey))
    .query(async ({ ctx, input }) => {
      const project = await access.authorize(ctx, "jobs:read", { projectId: input.project_id });
      const keys = await listKeys(ctx, { includeRevoked: true });
      return keys.filter(({ projectId, organizationId }) =>
        projectId === null ? organizationId === project.organizationId : projectId === project.id,
      );
    }),
  create: human
    .input(CreateApiKey)
    .output(NewApiKey)
    .mutation(({ ctx, input }) => createKey(ctx, input)),
  createManagement: human
    .input(CreateManagementKey)
    .output(NewApiKey)
    .mutation(({ ctx, input }) => createManagementKey(ctx, input)),
  revoke: mutation(api.revokeApiKey),
});
