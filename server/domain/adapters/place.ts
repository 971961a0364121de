import { access, type ProjectAccess } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";

/** An environment of a project: what is registered in one is nothing to another. */
export type Place = { project: ProjectAccess; projectId: string; environment: string };

/** Where a request works, where the caller has this right. A key works in its own environment only. */
export async function placeOf(
  ctx: Ctx,
  named: { projectId?: string | undefined; environment?: string | null | undefined },
  right: Scope,
): Promise<Place> {
  const project = await access.authorize(ctx, right, { place: named });
  return { project, projectId: project.id, environment: project.environment };
}
