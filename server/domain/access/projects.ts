import { pool } from "@/server/db";
import type { Ctx, Role, Scope } from "@/server/domain/ctx";
import { Fault, fail } from "@/server/errors";
import type { Json } from "@/server/step";
import { remembered } from "./cache";
import { isAllowed } from "./rights";

/** A project the caller may use, with what admission needs of it. */
export type ProjectAccess = {
  id: string;
  organizationId: string;
  displayName: string;
  /** Null: no job waits for approval. */
  approvalThresholdMicros: number | null;
  settings: Record<string, Json>;
  organizationSettings: Record<string, Json>;
  /** Slugs of its active environments. */
  environments: readonly string[];
  /** The environment of a request that names none. */
  environment: string;
  /** That one is archived, and the right asked for does work: the request has to name another. */
  mustNameEnvironment: boolean;
  /** Archived, and so only read: the project, or the `environment` of it. */
  archived: "project" | "environment" | null;
};

type ProjectRow = {
  id: string;
  organization_id: string;
  display_name: string;
  status: string;
  approval_threshold_micros: number | null;
  settings: Record<string, Json>;
  organization_settings: Record<string, Json>;
  environments: string[] | null;
  archived_environments: string[] | null;
};

const findProject = remembered(async (projectId: string): Promise<ProjectRow | null> => {
  const { rows } = await pool.query<ProjectRow>({
    name: "project-by-id",
    text: `SELECT project.id, organization_id, project.display_name, status, approval_threshold_micros, project.settings,
             organization.settings AS organization_settings,
             (SELECT array_agg(slug ORDER BY slug) FROM environment
              WHERE project_id = project.id AND status = 'active') AS environments,
             (SELECT array_agg(slug) FROM environment
              WHERE project_id = project.id AND status <> 'active') AS archived_environments
           FROM project JOIN organization ON organization.id = project.organization_id WHERE project.id = $1`,
    values: [projectId],
  });
  return rows[0] ?? null;
});

/** Where a request that names no environment runs. */
const DEFAULT_ENVIRONMENT = "development";

/** What a panel session may do in its project. What it may read is its own alone (`ownScopeOf`), never the project's. */
const PANEL_RIGHTS = new Set<Scope>(["capabilities:run", "jobs:write"]);

/**
 * The project a request works in, where the caller has this right. A bound key needs no id; everyone else names one.
 * PROJECT_REQUIRED (422) without one; AuthorizationFailed (403) for a project that is somebody else's or not there: the
 * answers are the same. A project or an environment that is archived allows its own people and keys to read, and nothing
 * else. AuthenticationFailed (401) for nobody.
 */
export async function project(
  ctx: Ctx,
  projectId: string | null | undefined,
  right: Scope,
): Promise<ProjectAccess> {
  const found = await findWorkplace(ctx, projectId, right);
  if (found.refusal) throw found.refusal;
  return found.project;
}

/**
 * The same for what only stops work: a project or an environment that is archived refuses it to nobody who has the right.
 */
export async function projectToStop(ctx: Ctx, projectId: string, right: Scope): Promise<ProjectAccess> {
  const { row, environment } = await findAllowed(ctx, projectId, right);
  return toAccess(row, environment);
}

/** Where a request works, and what refuses new work there: it, or its environment, is archived. */
export type Workplace = { project: ProjectAccess; environment: string; refusal: Fault | null };

/**
 * Where a request would work, where the caller has this right. What was admitted once is answered all the same, so that
 * what is archived refuses only what is new: whoever reads an idempotency key throws `refusal` where nothing stands under it.
 */
export async function workplace(
  ctx: Ctx,
  named: { projectId?: string | null | undefined; environment?: string | null | undefined },
  right: Scope,
): Promise<Workplace> {
  const { row, isBound, project, refusal } = await findWorkplace(ctx, named.projectId, right);
  try {
    return { project, environment: environment(ctx, project, named.environment), refusal };
  } catch (cause) {
    const wanted = named.environment || project.environment;
    const isTheirs = !isBound || wanted === project.environment;
    if (!(cause instanceof Fault) || !isTheirs || !isArchived(row, wanted)) throw cause;
    return { project, environment: wanted, refusal: refusal ?? cause };
  }
}

/** The same for what is of the project alone. */
export async function projectAnyway(
  ctx: Ctx,
  projectId: string | null | undefined,
  right: Scope,
): Promise<Omit<Workplace, "environment">> {
  const { project, refusal } = await findWorkplace(ctx, projectId, right);
  return { project, refusal };
}

async function findWorkplace(ctx: Ctx, projectId: string | null | undefined, right: Scope) {
  const { row, environment, isBound } = await findAllowed(ctx, projectId, right);
  const project: ProjectAccess = {
    ...toAccess(row, environment),
    mustNameEnvironment: doesWork(right) && isArchived(row, environment),
  };
  const refusal =
    ctx.principal.kind === "system" ? null : archivedFault(row, isBound ? environment : null, right);
  return { row, isBound, project, refusal };
}

/**
 * A row that was found by its id, which the caller may use with this right: what is not there fails with this sentence, and
 * of an archived project everything is read and nothing changed, however it was named.
 */
export async function usable<Row extends { project_id: string | null }>(
  ctx: Ctx,
  row: Row | undefined,
  right: Scope,
  missing: string,
): Promise<Row> {
  const found = row ?? fail("NotFound", missing);
  if (found.project_id !== null) await project(ctx, found.project_id, right);
  return found;
}

type Allowed = { row: ProjectRow; environment: string; isBound: boolean };

async function findAllowed(ctx: Ctx, projectId: string | null | undefined, right: Scope): Promise<Allowed> {
  const { principal } = ctx;
  switch (principal.kind) {
    case "anonymous":
      return unauthenticated();
    case "service_principal": {
      requireScope(ctx, right);
      const wanted = projectId || principal.projectId || projectRequired();
      if (principal.projectId !== null && wanted !== principal.projectId) return projectDenied();
      const row = await findProject(wanted);
      if (row?.organization_id !== principal.organizationId) return projectDenied();
      return { row, environment: principal.environment, isBound: true };
    }
    case "panel_session": {
      const wanted = projectId || principal.projectId;
      if (wanted !== principal.projectId) return projectDenied();
      if (!PANEL_RIGHTS.has(right)) return panelDenied();
      const row = await findProject(wanted);
      if (row?.organization_id !== principal.organizationId) return projectDenied();
      return { row, environment: principal.environment, isBound: true };
    }
    case "human_session": {
      const row = await findProject(projectId || projectRequired());
      const role = row && principal.memberships.get(row.organization_id);
      if (!row || !role) return projectDenied();
      requireRole(role, right);
      return { row, environment: DEFAULT_ENVIRONMENT, isBound: false };
    }
    case "system": {
      const row = await findProject(projectId || projectRequired());
      return row ? { row, environment: DEFAULT_ENVIRONMENT, isBound: false } : projectDenied();
    }
  }
}

/**
 * As `project`, for one that is named in a path or by a page: somebody else's and none at all are the same NotFound.
 * AuthorizationFailed only where the caller's own key lacks the right.
 */
export async function projectInPath(ctx: Ctx, projectId: string, right: Scope): Promise<ProjectAccess> {
  requireScope(ctx, right);
  try {
    return await project(ctx, projectId, right);
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "AuthorizationFailed")
      fail("NotFound", "There is no such project.");
    throw cause;
  }
}

/**
 * The environment a request works in: the one it names, or its own. A key works in its own only; anybody else in one
 * the project has. AuthorizationFailed (403) otherwise.
 */
export function environment(ctx: Ctx, project: ProjectAccess, wanted: string | null | undefined): string {
  if (!wanted && project.mustNameEnvironment)
    fail(
      "AuthorizationFailed",
      `The environment ${project.environment} of this project is archived. Name another one.`,
      { environments: [...project.environments] },
    );
  if (!wanted) return project.environment;
  const { kind } = ctx.principal;
  const isBound = kind === "service_principal" || kind === "panel_session";
  const isKnown = isBound ? wanted === project.environment : project.environments.includes(wanted);
  return isKnown
    ? wanted
    : fail(
        "AuthorizationFailed",
        "This key, embed session or project has no access to that environment. Name another one, or use a key for it.",
      );
}

/**
 * Whose rows a read by id may see. Null: no restriction of this kind. What has no environment, such as an uploaded file, belongs to
 * its project alone.
 */
export type ReadScope = {
  organizationIds: string[] | null;
  projectId: string | null;
  environment: string | null;
};
/** The same for rows that know who made them. */
export type OwnScope = ReadScope & { principalId: string | null };

/** For who may see all there is: operators, where they may, and work that asks for nobody. */
export const EVERYTHING = {
  organizationIds: null,
  projectId: null,
  environment: null,
  principalId: null,
} satisfies OwnScope;

/**
 * What the caller may see with this right, for `WHERE` of a read by id of what a panel session may have made: rows of one
 * project or of some organizations, of a panel session its own.
 */
export function ownScopeOf(ctx: Ctx, right: Scope): OwnScope {
  const { principal } = ctx;
  if (principal.kind !== "panel_session") return { ...scopeOf(ctx, right), principalId: null };
  const { organizationId, projectId, environment, id } = principal;
  return { organizationIds: [organizationId], projectId, environment, principalId: id };
}

/**
 * What the caller may see with this right, for `WHERE` of a read by id: rows of one project or of some organizations; with
 * a key those of its environment. A person sees the organizations where their role allows it, perhaps none. AuthorizationFailed when a key lacks the scope,
 * and for panel sessions, who see nothing of a project but what is their own.
 */
export function scopeOf(ctx: Ctx, right: Scope): ReadScope {
  const { principal } = ctx;
  switch (principal.kind) {
    case "anonymous":
      return unauthenticated();
    case "service_principal":
      requireScope(ctx, right);
      return {
        organizationIds: [principal.organizationId],
        projectId: principal.projectId,
        environment: principal.environment,
      };
    case "panel_session":
      return panelDenied();
    case "human_session": {
      const allowed = [...principal.memberships].filter(([, role]) => isAllowed(role, right));
      return {
        organizationIds: allowed.map(([organizationId]) => organizationId),
        projectId: null,
        environment: null,
      };
    }
    case "system":
      return EVERYTHING;
  }
}

/** Refuses a key that lacks this scope. People and panels are judged by role and project instead. */
export function requireScope(ctx: Ctx, right: Scope): void {
  if (ctx.principal.kind === "service_principal" && !ctx.principal.scopes.has(right)) {
    fail("AuthorizationFailed", `This key does not have the scope ${right}. Use a key that has it.`, {
      scope: right,
    });
  }
}

function requireRole(role: Role, right: Scope): void {
  if (!isAllowed(role, right)) {
    fail(
      "AuthorizationFailed",
      "Your role in this organization does not allow this. Ask an owner or admin of the organization.",
      { role },
    );
  }
}

/** What is archived is still read. `environment` is the one a key or panel is of. */
function archivedFault(row: ProjectRow, environment: string | null, right: Scope): Fault | null {
  if (!doesWork(right)) return null;
  if (row.status !== "active")
    return new Fault(
      "AuthorizationFailed",
      "This project is archived and accepts no new work. Restore it in the project's settings.",
      {},
    );
  if (environment === null || !isArchived(row, environment)) return null;
  return new Fault(
    "AuthorizationFailed",
    `The environment ${environment} of this project is archived and accepts no new work. Use another environment.`,
    {},
  );
}

const doesWork = (right: Scope) => !right.endsWith(":read");
const isArchived = (row: ProjectRow, environment: string) =>
  row.archived_environments?.includes(environment) ?? false;

function toAccess(row: ProjectRow, environment: string): ProjectAccess {
  return {
    id: row.id,
    organizationId: row.organization_id,
    displayName: row.display_name,
    approvalThresholdMicros: row.approval_threshold_micros,
    settings: row.settings,
    organizationSettings: row.organization_settings,
    environments: row.environments ?? [],
    environment,
    mustNameEnvironment: false,
    archived: row.status !== "active" ? "project" : isArchived(row, environment) ? "environment" : null,
  };
}

function unauthenticated(): never {
  fail("AuthenticationFailed", "The request has no valid API key. Send one as Authorization: Bearer cap_…");
}

function projectRequired(): never {
  fail(
    "PROJECT_REQUIRED",
    "The request names no project, and this key has access to several. Add context.projectId to the body, or projectId where the endpoint takes it.",
  );
}

function panelDenied(): never {
  fail("AuthorizationFailed", "An embed session cannot do this. Use an API key or sign in.");
}

function projectDenied(): never {
  fail(
    "AuthorizationFailed",
    "This key or account has no access to that project. Check the project id, or use a key that has access.",
  );
}
