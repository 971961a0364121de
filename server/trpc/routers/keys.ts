import { z } from "zod";
import { ProjectRef } from "@/server/contract/jobs";
import { CreateManagementKey } from "@/server/contract/management-keys";
import { ApiKey, CreateApiKey, NewApiKey } from "@/server/contract/organizations";
import { createManagementKey } from "@/server/domain/management";
import { createKey, listKeysOfProject } from "@/server/domain/organizations";
import * as api from "@/server/operations/keys";
import { router } from "../init";
import { does, mutation, reads } from "../of";

export const keysRouter = router({
  list: reads(ProjectRef, z.array(ApiKey), (ctx, input) => listKeysOfProject(ctx, input.project_id)),
  create: does(CreateApiKey, NewApiKey, createKey),
  createManagement: does(CreateManagementKey, NewApiKey, createManagementKey),
  revoke: mutation(api.revokeApiKey),
});
