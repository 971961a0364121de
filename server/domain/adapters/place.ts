import { access, type ProjectAccess } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";

/** An environment of a project; an adapter registered in one is unknown in any other. */
export type AdapterEnvironment = { project: ProjectAccess; projectId: string; environment: string };

/**
 * The project and environment of a request, if the caller has this right there. A key works only in its own
 * environment.
 */
export async function requireEnvironment(
  ctx: Ctx,
  named: { projectId?: string | undefined; environment?: string | null | undefined },
  right: Scope,
): Promise<AdapterEnvironment> {
  const project = await access.authorize(ctx, right, { place: named });
  return { project, projectId: project.id, environment: project.environment };
}
