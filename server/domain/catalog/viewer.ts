import { access, isAllowed, type ProjectAccess } from "@/server/domain/access";
import { type Connection, connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { allowsExternal } from "@/server/domain/plans";

/** For whom the catalog is described. */
export type Viewer = {
  signedIn: boolean;
  /** Null: of no organization in particular. */
  organizationId: string | null;
  project: ProjectAccess | null;
  environment: string | null;
  /** What the project is connected to; null without a project: then what this deployment offers. */
  connections: readonly Connection[] | null;
  /** Has the caller the scope or role to run anything? */
  mayRun: boolean;
  /** What is archived of the caller's project and environment, and so runs nothing for anybody. */
  archived: ProjectAccess["archived"];
  /** May executions leave for providers? They may unless the project's organization has switched that off. */
  mayLeave: boolean;
};

const WITHOUT_PROJECT = {
  organizationId: null,
  project: null,
  environment: null,
  connections: null,
  archived: null,
  mayLeave: true,
};

/**
 * Who looks at the catalog: a key or panel session with its own project, anybody else with the project they name.
 * AuthorizationFailed for a project that is not theirs.
 */
export async function viewerOf(
  ctx: Ctx,
  named: { projectId?: string | undefined; environment?: string | undefined } = {},
): Promise<Viewer> {
  const { principal } = ctx;
  if (principal.kind === "anonymous") return { ...WITHOUT_PROJECT, signedIn: false, mayRun: false };
  const own = "projectId" in principal ? principal.projectId : null;
  const organizationId = "organizationId" in principal ? principal.organizationId : null;
  const mayRun = principal.kind !== "service_principal" || principal.scopes.has("capabilities:run");
  if (!own && !named.projectId) return { ...WITHOUT_PROJECT, signedIn: true, organizationId, mayRun };
  const right = principal.kind === "panel_session" ? "capabilities:run" : "catalog:read";
  const project = await access.authorize(ctx, right, { place: named });
  const { environment, archived } = project;
  const role = principal.kind === "human_session" && principal.memberships.get(project.organizationId);
  return {
    signedIn: true,
    organizationId: project.organizationId,
    project,
    environment,
    connections: await connectionsOf({ id: project.id, environment }),
    mayRun: mayRun && (!role || isAllowed(role, "capabilities:run")),
    archived,
    mayLeave: allowsExternal(project.organizationSettings),
  };
}
