import { ownKeys } from "@/server/contract/own-keys";
import type { ProjectDetail, ProjectSettingsPatch } from "@/server/contract/projects";
import { access, changeAccess } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { requireRoom } from "@/server/domain/plans";
import { environment, organization, project } from "@/server/generated/schema";
import type { Transaction } from "@/server/platform/db";
import { ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { bool, int4, maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { findProject, type ProjectRow, toDetail } from "./details";

/** Most environments of a project, archived ones included. */
const MOST_ENVIRONMENTS = 50;

const lockOrganization = statement("organization.lock.projects", {
  params: { organizationId: text },
  row: { settings: organization.settings, projects: int4 },
  sql: `SELECT settings, (SELECT count(*)::int FROM project WHERE organization_id = $organizationId AND status = 'active') AS projects
       FROM organization WHERE id = $organizationId FOR NO KEY UPDATE`,
});

const updateProject = statement("project.update.details", {
  params: {
    projectId: text,
    displayName: maybe(text),
    slug: maybe(text),
    status: maybe(text),
    repository: project.repository,
    clearRepository: bool,
  },
  sql: `UPDATE project SET display_name = coalesce($displayName, display_name), slug = coalesce($slug, slug),
         status = coalesce($status, status),
         repository = CASE WHEN $clearRepository THEN NULL ELSE coalesce($repository::jsonb, repository) END
       WHERE id = $projectId`,
});

/**
 * Changes a project's name, slug, repository, environments and status. Once this returns, no process admits new
 * work in a project or an environment that it archived. Fields that are not named stay. For admins of the
 * organization.
 */
export async function patchProject(
  ctx: Ctx,
  projectId: string,
  input: ProjectSettingsPatch,
): Promise<ProjectDetail> {
  return changeAccess(async (client) => {
    const seen = await findProject(ctx, projectId, client);
    access.authorize(ctx, "admin", { organizationId: seen.organization_id });
    // Assigning a slug in this organization waits here, and changes of one project run one after the other.
    const organizations = await lockOrganization.all(client, { organizationId: seen.organization_id });
    const { settings, projects } = organizations[0]!; // the project was found, so its organization exists
    const before = await findProject(ctx, projectId, client);
    await refuseTakenSlug(client, before, input.slug);
    await changeEnvironments(ctx, client, before, input.environments ?? []);
    await updateProject.run(client, {
      projectId,
      displayName: input.displayName ?? null,
      slug: input.slug ?? null,
      status: input.status ?? null,
      repository: repositoryOf(input),
      clearRepository: input.clearRepository,
    });
    const after = await findProject(ctx, projectId, client);
    if (before.status !== "active" && after.status === "active")
      requireRoom(settings, "projects", projects + 1);
    const [had, has] = [activeOf(before), activeOf(after)];
    if (has > had) requireRoom(settings, "environments", has);
    const details = changesBetween(before, after);
    if (Object.keys(details).length > 0) {
      const act = { organizationId: before.organization_id, projectId, subject: projectId };
      await record(ctx, { ...act, action: "project.changed", details }, client);
    }
    return toDetail(after);
  });
}

function repositoryOf({ repository, clearRepository }: ProjectSettingsPatch) {
  if (repository && clearRepository)
    refuse(["clearRepository"], "Send a repository or clear it, not both.", "conflict");
  return repository ?? null;
}

const findSlug = statement("project.find.slug", {
  params: { organizationId: text, slug: text, projectId: text },
  sql: `SELECT FROM project WHERE organization_id = $organizationId AND slug = $slug AND id <> $projectId`,
});

async function refuseTakenSlug(
  client: Transaction,
  { id, organization_id }: ProjectRow,
  slug?: string | null,
) {
  if (!slug) return;
  const rowCount = await findSlug.count(client, { organizationId: organization_id, slug, projectId: id });
  if (rowCount)
    refuse(["slug"], "Another project in this organization has this slug. Choose another.", "taken");
}

const activeOf = ({ environments }: ProjectRow) =>
  environments.filter(({ status }) => status === "active").length;

type EnvironmentPatch = NonNullable<ProjectSettingsPatch["environments"]>[number];

const insertEnvironment = statement("environment.insert", {
  params: {
    environmentId: environment.id,
    projectId: environment.project_id,
    slug: environment.slug,
    displayName: environment.display_name,
    status: environment.status,
    now: timestamptz,
  },
  sql: `INSERT INTO environment (id, project_id, slug, display_name, status, created_at)
    VALUES ($environmentId, $projectId, $slug, $displayName, $status, $now)`,
});

const updateEnvironment = statement("environment.update", {
  params: { environmentId: text, displayName: maybe(text), status: environment.status },
  sql: `UPDATE environment SET display_name = coalesce($displayName, display_name), status = $status WHERE id = $environmentId`,
});

async function changeEnvironments(
  ctx: Ctx,
  client: Transaction,
  { id: projectId, environments }: ProjectRow,
  wanted: EnvironmentPatch[],
): Promise<void> {
  const known = new Map(environments.map((each) => [each.id, { ...each }]));
  const slugs = new Set(environments.map(({ slug }) => slug));
  const named = new Set<string>();
  for (const [position, each] of wanted.entries()) {
    const at = (field: string) => ["environments", position, field];
    if (!each.id) {
      const slug = each.slug ?? refuse(at("slug"), "A new environment needs a slug.", "missing");
      if (slugs.has(slug)) refuse(at("slug"), `The project already has an environment ${slug}.`, "taken");
      slugs.add(slug);
      const id = newId("environment");
      const status = each.status ?? "active";
      const made = { id, slug, display_name: each.displayName ?? slug, status, created_at: "" };
      known.set(id, made);
      await insertEnvironment.run(client, {
        environmentId: id,
        projectId,
        slug,
        displayName: made.display_name,
        status,
        now: ctx.now(),
      });
      continue;
    }
    const old = known.get(each.id) ?? refuse(at("id"), "The project has no such environment.", "not_found");
    if (named.has(each.id)) refuse(at("id"), "This environment is listed twice.", "repeated");
    named.add(each.id);
    if (each.slug !== undefined && each.slug !== old.slug)
      refuse(at("slug"), `The slug of an environment cannot change. This one is ${old.slug}.`, "immutable");
    old.status = each.status ?? old.status;
    await updateEnvironment.run(client, {
      environmentId: old.id,
      displayName: each.displayName ?? null,
      status: old.status,
    });
  }
  if (known.size > MOST_ENVIRONMENTS)
    refuse(["environments"], `A project can have at most ${MOST_ENVIRONMENTS} environments.`, "too_many");
  if (![...known.values()].some(({ status }) => status === "active"))
    refuse(["environments"], "At least one environment must stay active.", "none_active");
}

/** Changed fields with their values before and after, for the audit log. */
function changesBetween(before: ProjectRow, after: ProjectRow) {
  const logged = ({ display_name, slug, status, repository, environments }: ProjectRow) => ({
    displayName: display_name,
    slug,
    status,
    repository,
    environments: environments.map((each) => `${each.slug} (${each.display_name}): ${each.status}`),
  });
  const [old, now] = [logged(before), logged(after)];
  const names = ownKeys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(old[name]));
  return Object.fromEntries(
    names.map((name) => [name, JSON.parse(JSON.stringify({ before: old[name], after: now[name] }))]),
  );
}

function refuse(field: (string | number)[], msg: string, type: string): never {
  throw new ValidationFault([{ loc: ["body", ...field], msg, type }]);
}
