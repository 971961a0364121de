import type { ConnectProject, Credential, ProjectConnections } from "@/server/contract/credentials";
import { access, isRoleAtLeast, roleIn } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { project } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { createCredential } from "./create";
import { statesOf } from "./health-of";
import { credentialsOf, toCredential } from "./rows";

/** Connections of a project, newest first; admins also see the others of their organization. */
export async function projectConnections(ctx: Ctx, projectId: string): Promise<ProjectConnections> {
  const { id, organizationId } = await access.authorize(ctx, "jobs:read", { projectId });
  const role = roleIn(ctx, organizationId);
  const canChange = role !== null && isRoleAtLeast(role, "admin");
  const credentials = (await credentialsOf(organizationId)).map(toCredential);
  const states = await statesOf(credentials, ctx.now());
  const all = credentials.map((each) => ({ ...each, state: states.get(each.credentialId) ?? "idle" }));
  if (canChange) return { items: all, canChange };
  const ofProject = all.map((each) => ({
    ...each,
    bindings: each.bindings.filter((binding) => binding.projectId === id),
  }));
  return { items: ofProject.filter(({ bindings }) => bindings.length > 0), canChange };
}

const readOwner = statement("project.read.organization", {
  params: { projectId: text },
  row: { organization_id: project.organization_id },
  sql: `SELECT organization_id FROM project WHERE id = $projectId`,
});

/** Stores an account and binds it to environments of a project, or does neither. */
export async function connectProject(
  ctx: Ctx,
  { project_id, environments, ...input }: ConnectProject,
): Promise<Credential> {
  const row = await readOwner.first(pool, { projectId: project_id });
  const organizationId = row?.organization_id;
  if (!organizationId || !roleIn(ctx, organizationId)) fail("NotFound", "There is no such project.");
  const project = await access.authorize(ctx, "jobs:read", { projectId: project_id });
  const named = [...new Set(environments ?? project.environments)];
  const places = named.map((environment) => ({ projectId: project.id, environment }));
  return createCredential(ctx, organizationId, input, { places });
}
