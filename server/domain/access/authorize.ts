import type { Ctx, Role } from "@/server/domain/ctx";
import { organization, project } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { Fault, fail } from "@/server/platform/errors/errors";
import { maybe, type Of, pick, text, texts } from "@/server/sql/column";
import type { Authorized } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import { remembered } from "./cache";
import { type Managed, requireManaging } from "./manage";
import {
  isAllowed,
  isRole,
  type ManagementRight,
  type ProjectRight,
  type RepeatableRight,
  RIGHTS,
  type Right,
  type RightRule,
} from "./rights";
import { isOperator, requireRole } from "./roles";

/** A project the caller may use, with the fields that admission needs. */
export type ProjectAccess = Authorized & {
  displayName: string;
  /** Null if no job waits for approval. */
  approvalThresholdMicros: number | null;
  settings: Record<string, Json>;
  organizationSettings: Record<string, Json>;
  /** Slugs of its active environments. */
  environments: readonly string[];
  /** The environment of this request; the caller's default if the target was not a `place`. */
  environment: string;
  /** The part that is archived, and so read-only: the project or its `environment`. */
  archived: "project" | "environment" | null;
};

/**
 * The result for a right whose `archived` is `later`: throw `refusal`, if there is one, unless the request was
 * admitted before.
 */
export type DeferredAccess = ProjectAccess & { refusal: Fault | null };

type Named = { projectId?: string | null | undefined };
type ProjectTarget =
  /** A bound key and an embed session need no id; everyone else names a project. */
  | Named
  /** A project and an environment in it; a key that is no management key may name only its own environment. */
  | { place: Named & { environment?: string | null | undefined } };

type Target = "rows" | "made rows" | ProjectTarget | { projectInPath: string } | { managed: Managed };
type Organization = { organizationId: string };

/**
 * Limits of a read. Null means no restriction of this kind. Rows without an environment, such as uploads, are
 * limited by their project alone.
 */
export type ReadScope = {
  organizationIds: string[] | null;
  projectId: string | null;
  environment: string | null;
  /** Present only for a management key, which is not bound to one project: the projects that it works in. */
  projectIds?: readonly string[];
};
/** Limits of a read of rows that record their creator. */
export type OwnScope = ReadScope & { principalId: string | null };

/** No restriction, for the system and for operators where they may see everything. */
export const EVERYTHING = {
  organizationIds: null,
  projectId: null,
  environment: null,
  principalId: null,
} satisfies OwnScope;

/**
 * Checks a right. Returns what the caller may see or work in, or throws. `rights.ts` lists who has which
 * right.
 *
 * - No target: refuses a key without the right's scope. All other callers are checked where the target is
 *   known.
 * - `"rows"`: what the caller may see, for the `WHERE` of a read: rows of one project or of some
 *   organizations. A key sees those of its environment; a person those of the organizations where their role
 *   is enough, which may be none. An embed session is refused.
 * - `"made rows"`: the same for rows that record their creator, of which an embed session sees its own.
 * - A project: PROJECT_REQUIRED (422) if the request does not identify one. AuthorizationFailed (403) for
 *   another tenant's project as for one that does not exist, for a role or scope that is too low, and for an
 *   archived project, as `archived` of the right says.
 * - `projectInPath`: the same, but NotFound (404) in place of AuthorizationFailed unless the key lacks the
 *   scope.
 * - An organization, with a role as the right: returns the caller's role there. NotFound (404) for strangers
 *   and keys, AuthorizationFailed for a role that is too low. Operators count as owners.
 * - `managed`, with a right of management keys: see `requireManaging`.
 * - `operator`: AuthorizationFailed for everyone but operators and the system.
 *
 * Anonymous callers get AuthenticationFailed (401) for rows and projects, NotFound for an organization and
 * for `managed`, and AuthorizationFailed for `operator`.
 */
export function authorize(ctx: Ctx, right: "operator"): void;
export function authorize(ctx: Ctx, right: Role, target: Organization): Role;
export function authorize(ctx: Ctx, right: ManagementRight, target: { managed: Managed }): void;
export function authorize(ctx: Ctx, right: ProjectRight): void;
export function authorize(ctx: Ctx, right: ProjectRight, target: "rows"): ReadScope;
export function authorize(ctx: Ctx, right: ProjectRight, target: "made rows"): OwnScope;
export function authorize(ctx: Ctx, right: RepeatableRight, target: ProjectTarget): Promise<DeferredAccess>;
export function authorize(
  ctx: Ctx,
  right: Exclude<ProjectRight, RepeatableRight>,
  target: ProjectTarget | { projectInPath: string },
): Promise<ProjectAccess>;
export function authorize(ctx: Ctx, right: Right, target?: Target | Organization): unknown {
  if (right === "operator") return requireOperator(ctx);
  // The overloads state which targets a right takes.
  if (isRole(right)) return requireRole(ctx, right, (target as Organization).organizationId);
  return inProjects(ctx, right, target as Target | undefined);
}

function inProjects(ctx: Ctx, right: ProjectRight, target: Target | undefined): unknown {
  if (target === undefined) return requireScope(ctx, right);
  if (target === "rows") return rowsOf(ctx, right);
  if (target === "made rows") return madeRowsOf(ctx, right);
  if ("managed" in target) return requireManaging(ctx, right as ManagementRight, target.managed);
  if ("projectInPath" in target) return projectInPath(ctx, right, target.projectInPath);
  return "place" in target ? placeOf(ctx, right, target.place) : projectOf(ctx, right, target.projectId);
}

function requireOperator(ctx: Ctx): void {
  if (!isOperator(ctx))
    fail("AuthorizationFailed", "Only an operator of this installation can do this. Ask your operator.");
}

function requireScope({ principal }: Ctx, right: ProjectRight): void {
  const { scope, manager }: RightRule = RIGHTS[right];
  if (principal.kind === "service_principal" && scope !== null && !principal.scopes.has(scope)) {
    if (manager && principal.management && principal.scopes.has(manager)) return;
    fail("AuthorizationFailed", `This key does not have the scope ${scope}. Use a key that has it.`, {
      scope,
    });
  }
}

function madeRowsOf(ctx: Ctx, right: ProjectRight): OwnScope {
  const { principal } = ctx;
  if (principal.kind !== "panel_session") return { ...rowsOf(ctx, right), principalId: null };
  const { organizationId, projectId, environment, id } = principal;
  return { organizationIds: [organizationId], projectId, environment, principalId: id };
}

function rowsOf(ctx: Ctx, right: ProjectRight): ReadScope {
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
        ...(principal.management ? { projectIds: principal.management.projectIds } : {}),
      };
    case "panel_session":
      return embedDenied();
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

/** Environment of a request that names none. */
const DEFAULT_ENVIRONMENT = "development";

const PROJECT = {
  ...pick(project, "id organization_id display_name status approval_threshold_micros settings"),
  organization_settings: organization.settings,
  environments: maybe(texts),
  archived_environments: maybe(texts),
};
type ProjectRow = Of<typeof PROJECT>;

const readProject = statement("project.read.authorize", {
  params: { projectId: text },
  row: PROJECT,
  sql: `SELECT project.id, organization_id, project.display_name, status, approval_threshold_micros, project.settings,
             organization.settings AS organization_settings,
             (SELECT array_agg(slug ORDER BY slug) FROM environment
              WHERE project_id = project.id AND status = 'active') AS environments,
             (SELECT array_agg(slug) FROM environment
              WHERE project_id = project.id AND status <> 'active') AS archived_environments
           FROM project JOIN organization ON organization.id = project.organization_id WHERE project.id = $projectId`,
  prepared: true,
});

const findProject = remembered(async (projectId: string): Promise<ProjectRow | null> => {
  return readProject.first(pool, { projectId });
});

/** `isBound`: the caller works only in this environment. */
type Found = { row: ProjectRow; environment: string; isBound: boolean };

/** Finds the project of this request, archived or not, and checks that the caller has the right there. */
async function find(ctx: Ctx, right: ProjectRight, projectId: string | null | undefined): Promise<Found> {
  const { principal } = ctx;
  switch (principal.kind) {
    case "anonymous":
      return unauthenticated();
    case "service_principal": {
      requireScope(ctx, right);
      const wanted = projectId || principal.projectId || projectRequired();
      if (principal.projectId !== null && wanted !== principal.projectId) return projectDenied();
      const { management } = principal;
      if (management && !management.projectIds.includes(wanted)) return projectDenied();
      const row = await findProject(wanted);
      if (row?.organization_id !== principal.organizationId) return projectDenied();
      return management
        ? { row, environment: DEFAULT_ENVIRONMENT, isBound: false }
        : { row, environment: principal.environment, isBound: true };
    }
    case "panel_session": {
      const wanted = projectId || principal.projectId;
      if (wanted !== principal.projectId) return projectDenied();
      if (!RIGHTS[right].embeds) return embedDenied();
      const row = await findProject(wanted);
      if (row?.organization_id !== principal.organizationId) return projectDenied();
      return { row, environment: principal.environment, isBound: true };
    }
    case "human_session": {
      const row = await findProject(projectId || projectRequired());
      const role = row && principal.memberships.get(row.organization_id);
      if (!row || !role) return projectDenied();
      if (!isAllowed(role, right))
        fail(
          "AuthorizationFailed",
          "Your role in this organization does not allow this. Ask an owner or admin of the organization.",
          { role },
        );
      return { row, environment: DEFAULT_ENVIRONMENT, isBound: false };
    }
    case "system": {
      const row = await findProject(projectId || projectRequired());
      return row ? { row, environment: DEFAULT_ENVIRONMENT, isBound: false } : projectDenied();
    }
  }
}

async function projectOf(ctx: Ctx, right: ProjectRight, projectId: string | null | undefined) {
  const found = await find(ctx, right, projectId);
  return toAccess(found.row, found.environment, refusalAt(ctx, right, found));
}

async function placeOf(
  ctx: Ctx,
  right: ProjectRight,
  named: Named & { environment?: string | null | undefined },
): Promise<DeferredAccess> {
  const found = await find(ctx, right, named.projectId);
  const { row, environment: own, isBound } = found;
  const refusal = refusalAt(ctx, right, found);
  const environment = named.environment || own;
  const fault = environmentFault(found, RIGHTS[right], named.environment);
  // A request that was admitted before the archiving still gets its answer.
  const isTheirs = (!isBound || environment === own) && isArchived(row, environment);
  if (fault && !(RIGHTS[right].archived === "later" && isTheirs)) throw fault;
  return toAccess(row, environment, refusal ?? fault);
}

async function projectInPath(ctx: Ctx, right: ProjectRight, projectId: string): Promise<DeferredAccess> {
  requireScope(ctx, right);
  try {
    return await projectOf(ctx, right, projectId);
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "AuthorizationFailed")
      fail("NotFound", "There is no such project.");
    throw cause;
  }
}

/**
 * The reason to refuse new work here: the project is archived, or the environment of this key or embed session.
 * Null if neither is, for the system, and for a right whose `archived` is `open`. Throws the reason if it is `refused`.
 */
function refusalAt(ctx: Ctx, right: ProjectRight, { row, environment, isBound }: Found): Fault | null {
  const { archived }: RightRule = RIGHTS[right];
  if (archived === "open" || ctx.principal.kind === "system") return null;
  const what =
    row.status !== "active"
      ? "This project is archived and accepts no new work. Restore it in the project's settings."
      : isBound && isArchived(row, environment)
        ? `The environment ${environment} of this project is archived and accepts no new work. Use another environment.`
        : null;
  const refusal = what === null ? null : new Fault("AuthorizationFailed", what, {});
  if (refusal && archived === "refused") throw refusal;
  return refusal;
}

/**
 * The reason to refuse the environment that a request names, or the default one if it names none; null if there
 * is none. `refusalAt` covers the archived environment of a bound caller.
 */
function environmentFault(
  { row, environment, isBound }: Found,
  { archived }: RightRule,
  named: string | null | undefined,
): Fault | null {
  if (!named) {
    if (archived === "open" || !isArchived(row, environment)) return null;
    return new Fault(
      "AuthorizationFailed",
      `The environment ${environment} of this project is archived. Name another one.`,
      { environments: [...(row.environments ?? [])] },
    );
  }
  const isKnown = isBound ? named === environment : row.environments?.includes(named);
  if (isKnown) return null;
  return new Fault(
    "AuthorizationFailed",
    "This key, embed session or project has no access to that environment. Name another one, or use a key for it.",
    {},
  );
}

const isArchived = (row: ProjectRow, environment: string) =>
  row.archived_environments?.includes(environment) ?? false;

function toAccess(row: ProjectRow, environment: string, refusal: Fault | null): DeferredAccess {
  const found: Omit<DeferredAccess, keyof Authorized> & { id: string; organizationId: string } = {
    id: row.id,
    organizationId: row.organization_id,
    displayName: row.display_name,
    approvalThresholdMicros: row.approval_threshold_micros,
    settings: row.settings,
    organizationSettings: row.organization_settings,
    environments: row.environments ?? [],
    environment,
    archived: row.status !== "active" ? "project" : isArchived(row, environment) ? "environment" : null,
    refusal,
  };
  return found as DeferredAccess; // the brand of a checked project, which only this function gives
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

function embedDenied(): never {
  fail("AuthorizationFailed", "An embed session cannot do this. Use an API key or sign in.");
}

function projectDenied(): never {
  fail(
    "AuthorizationFailed",
    "This key or account has no access to that project. Check the project id, or use a key that has access.",
  );
}
