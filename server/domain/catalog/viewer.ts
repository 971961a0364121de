import { access, isAllowed, type ProjectAccess } from "@/server/domain/access";
import { type BoundConnection, connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { allowsExternal } from "@/server/domain/plans";

/** The caller that the catalog is described for. */
export type Viewer = {
  signedIn: boolean;
  /** Null if the caller acts for no particular organization. */
  organizationId: string | null;
  project: ProjectAccess | null;
  environment: string | null;
  /** The project's connections. Null without a project; the description then shows what this deployment offers. */
  connections: readonly BoundConnection[] | null;
  /** True if the caller's scope or role allows running anything. */
  mayRun: boolean;
  /** Tells which part of the caller's project and environment is archived, so that nothing runs there for anyone. */
  archived: ProjectAccess["archived"];
  /** False if the project's organization has switched off executions that leave for providers. */
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
 * Returns the viewer: a bound key or an embed session sees its own project, and any other caller the project
 * that it names. Throws `AuthorizationFailed` for a project that is not the caller's.
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
