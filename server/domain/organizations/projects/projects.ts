import type { z } from "zod";
import type { CreateProject, Project } from "@/server/contract/organizations";
import type { Repository } from "@/server/contract/projects";
import { access, membershipsOf, visibleOrganizations } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx, Role } from "@/server/domain/ctx";
import { requireRoom } from "@/server/domain/plans";
import { inTransaction, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { int4, jsonb, maybe, text, texts, timestamptz } from "@/server/sql/column";
import { amongOrganizations, people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import { lockOrganization } from "../lock";
import { chooseOrganization } from "../organizations";

/** Environments of every new project. */
const ENVIRONMENTS = [
  { slug: "development", displayName: "Development" },
  { slug: "production", displayName: "Production" },
];

const withEnvironments = { environments: { where: { status: "active" }, orderBy: { slug: "asc" } } } as const;

/** Most projects of an organization, archived ones included. */
const MOST_PROJECTS = 1_000;

type Extra = { environment?: string; repository?: Repository | null };

/**
 * Creates a project with its environments, plus `extra.environment` if named. For admins of the organization
 * and operators.
 */
export async function createProject(
  ctx: Ctx,
  input: z.output<typeof CreateProject>,
  extra: Extra = {},
): Promise<Project> {
  return inTransaction(async (client) => {
    const organizationId = await chooseOrganization(client, ctx, input.organizationId);
    access.authorize(ctx, "admin", { organizationId });
    return insertProject(client, ctx, { organizationId, name: input.name, extra });
  });
}

const countProjects = statement("project.count", {
  params: { organizationId: text },
  row: { active: int4, every: int4 },
  sql: `SELECT count(*) FILTER (WHERE status = 'active')::int AS active, count(*)::int AS every
    FROM project WHERE organization_id = $organizationId`,
});
const findSlugs = statement("project.find.slugs", {
  params: { organizationId: text, stem: text },
  row: { slug: text },
  sql: "SELECT slug FROM project WHERE organization_id = $organizationId AND starts_with(slug, $stem)",
});
const insert = statement("project.insert", {
  params: {
    id: text,
    organizationId: text,
    displayName: text,
    slug: text,
    repository: maybe(jsonb<Repository>()),
    createdAt: timestamptz,
  },
  sql: `INSERT INTO project (id, organization_id, display_name, slug, repository, created_at)
    VALUES ($id, $organizationId, $displayName, $slug, $repository, $createdAt)`,
});
const insertEnvironments = statement("environment.insert.first", {
  params: { projectId: text, ids: texts, slugs: texts, displayNames: texts },
  sql: `INSERT INTO environment (id, project_id, slug, display_name)
    SELECT id, $projectId, slug, display_name FROM unnest($ids::text[], $slugs::text[], $displayNames::text[])
      AS made (id, slug, display_name)`,
});

/** Writes a new project. The caller must have checked the right in the organization. */
export async function insertProject(
  client: Transaction,
  ctx: Ctx,
  {
    organizationId,
    name,
    extra: { environment, repository } = {},
  }: { organizationId: string; name: string; extra?: Extra | undefined },
): Promise<Project> {
  // Concurrent projects with the same name wait for each other, so that each finds a free slug.
  const { settings } = await lockOrganization(client, organizationId);
  const { active, every } = (await countProjects.first(client, { organizationId }))!; // an aggregate has a row
  requireRoom(settings, "projects", active + 1);
  if (every >= MOST_PROJECTS)
    fail("InvalidInput", `An organization can have at most ${MOST_PROJECTS} projects. Archive one first.`);
  const isNew = environment && !ENVIRONMENTS.some(({ slug }) => slug === environment);
  const environments = isNew
    ? [...ENVIRONMENTS, { slug: environment, displayName: environment }]
    : ENVIRONMENTS;
  requireRoom(settings, "environments", environments.length);
  const row = {
    id: newId("project"),
    organizationId,
    displayName: name,
    slug: await freeSlug(client, organizationId, name),
    createdAt: ctx.now(),
  };
  await insert.run(client, { ...row, repository: repository ?? null });
  const made = environments
    .map((each) => ({ ...each, id: newId("environment") }))
    .sort((one, other) => (one.slug < other.slug ? -1 : 1));
  await insertEnvironments.run(client, {
    projectId: row.id,
    ids: made.map(({ id }) => id),
    slugs: made.map(({ slug }) => slug),
    displayNames: made.map(({ displayName }) => displayName),
  });
  const act = { organizationId, projectId: row.id, subject: row.id, action: "project.created" };
  const details = { displayName: name, slug: row.slug, environments: environments.map(({ slug }) => slug) };
  await record(ctx, { ...act, details }, client);
  return toProject({ ...row, status: "active", environments: made });
}

/** The active projects of the caller's organizations, oldest first; an operator sees all. */
export async function listProjects(ctx: Ctx, organizationId?: string): Promise<Project[]> {
  const visible = visibleOrganizations(ctx);
  const rows = await people.project.findMany({
    where: {
      AND: [{ organizationId: amongOrganizations(visible) }, organizationId ? { organizationId } : {}],
      status: "active",
    },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    include: withEnvironments,
  });
  return rows.map(toProject);
}

/** A project with the name of its organization and the reader's role there. */
type JoinedProject = Pick<Project, "projectId" | "displayName" | "organizationId"> & {
  isArchived: boolean;
  organizationName: string;
  role: Role;
  environments: string[];
};

/**
 * The projects of the organizations that a person is a member of, active ones first, then archived ones,
 * which can be restored. An operator gets only those of organizations they joined.
 */
export async function listJoinedProjects(ctx: Ctx): Promise<JoinedProject[]> {
  const memberships = membershipsOf(ctx);
  const rows = await people.project.findMany({
    where: { organizationId: { in: [...memberships.keys()] } },
    orderBy: [{ status: "asc" }, { createdAt: "asc" }, { id: "asc" }], // active before archived
    include: { ...withEnvironments, organization: { select: { displayName: true } } },
  });
  return rows.map(({ id, displayName, status, organizationId, organization, environments }) => ({
    projectId: id,
    displayName,
    isArchived: status !== "active",
    organizationId,
    organizationName: organization.displayName,
    role: memberships.get(organizationId)!, // the rows were read by these organizations
    environments: environments.map(({ slug }) => slug),
  }));
}

async function freeSlug(client: Transaction, organizationId: string, name: string): Promise<string> {
  const stem =
    name
      .normalize("NFKD")
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 48) || "project";
  const taken = await findSlugs.all(client, { organizationId, stem });
  const slugs = new Set(taken.map(({ slug }) => slug));
  for (let number = 1; ; number++) {
    const slug = number === 1 ? stem : `${stem}-${number}`;
    if (!slugs.has(slug)) return slug;
  }
}

type ProjectRow = {
  id: string;
  organizationId: string;
  displayName: string;
  slug: string;
  status: string;
  createdAt: Date;
  environments: { id: string; slug: string; displayName: string }[];
};

function toProject(row: ProjectRow): Project {
  return {
    projectId: row.id,
    organizationId: row.organizationId,
    displayName: row.displayName,
    slug: row.slug,
    status: row.status,
    environments: row.environments.map(({ id, slug, displayName }) => ({
      environmentId: id,
      slug,
      displayName,
    })),
    createdAt: row.createdAt.toISOString(),
  };
}
