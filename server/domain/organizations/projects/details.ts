import { z } from "zod";
import type { Environment, ProjectCreate, ProjectDetail } from "@/server/contract/projects";
import { Repository, Status } from "@/server/contract/projects";
import { access, roleIn } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { project } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { column, type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { createProject } from "./projects";

const PROJECT = {
  ...pick(project, "id organization_id display_name slug status repository created_at"),
  environments:
    column<{ id: string; slug: string; display_name: string; status: string; created_at: string }[]>("json"),
};
export type ProjectRow = Of<typeof PROJECT>;

/** Selects projects with all of their environments; the caller appends the condition. */
const SELECT_PROJECTS = `SELECT project.id, organization_id, display_name, slug, status, repository, created_at,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'slug', slug, 'display_name', display_name, 'status', status,
     'created_at', created_at) ORDER BY slug), '[]') FROM environment WHERE project_id = project.id) AS environments
  FROM project`;

const readProject = statement("project.read.details", {
  params: { projectId: text },
  row: PROJECT,
  sql: `${SELECT_PROJECTS} WHERE id = $projectId`,
});

/** A project of the caller's organizations. NotFound for a foreign project as for an unknown one. */
export async function findProject(
  ctx: Ctx,
  projectId: string,
  database: Queryable = pool,
): Promise<ProjectRow> {
  const row = await readProject.first(database, { projectId });
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such project.");
  return row;
}

const listProjects = statement("project.list.organization", {
  params: { organizationId: text },
  row: PROJECT,
  sql: `${SELECT_PROJECTS} WHERE organization_id = $organizationId ORDER BY created_at, id`,
});

/** Every project of an organization, including archived ones, oldest first. For its members. */
export async function projectsOf(ctx: Ctx, organizationId: string): Promise<ProjectDetail[]> {
  access.authorize(ctx, "viewer", { organizationId });
  const rows = await listProjects.all(pool, { organizationId });
  return rows.map(toDetail);
}

/** One project of an organization. For its members. */
export async function projectOf(ctx: Ctx, organizationId: string, projectId: string): Promise<ProjectDetail> {
  const row = await findProject(ctx, projectId);
  if (row.organization_id !== organizationId) fail("NotFound", "There is no such project.");
  return toDetail(row);
}

/** The environments of a project, including archived ones. For members of its organization. */
export async function environmentsOf(ctx: Ctx, projectId: string): Promise<Environment[]> {
  return toDetail(await findProject(ctx, projectId)).environments;
}

/** Creates a project from the fields of the API. For admins of the organization. */
export async function addProject(
  ctx: Ctx,
  organizationId: string,
  { displayName, ...extra }: ProjectCreate,
): Promise<ProjectDetail> {
  access.authorize(ctx, "admin", { organizationId });
  const { projectId } = await createProject(ctx, { name: displayName, organizationId }, extra);
  return toDetail(await findProject(ctx, projectId));
}

const Stored = z.object({ ...Repository.shape, url: z.string().nullable() });

export function toDetail(row: ProjectRow): ProjectDetail {
  return {
    id: row.id,
    projectId: row.id,
    organizationId: row.organization_id,
    displayName: row.display_name,
    slug: row.slug,
    status: Status.parse(row.status),
    repository: row.repository ? Stored.parse(row.repository) : null,
    environments: row.environments.map((each) => ({
      id: each.id,
      environmentId: each.id,
      projectId: row.id,
      slug: each.slug,
      displayName: each.display_name,
      status: Status.parse(each.status),
      createdAt: new Date(each.created_at).toISOString(),
    })),
    createdAt: row.created_at.toISOString(),
  };
}
