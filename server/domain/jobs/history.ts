import { type JobPage, type ListProjectJobs, TERMINAL } from "@/server/contract/jobs";
import { prisma, withTenant } from "@/server/db";
import { access } from "@/server/domain/access";
import { readHolds } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { LISTED, type Listed, toListItem } from "./view";

/** The jobs of a project that the caller may see, newest first, by keyset: ids sort by time. Lines never carry prompts or error messages. */
export async function history(ctx: Ctx, projectId: string, query: ListProjectJobs): Promise<JobPage> {
  const project = await access.authorize(ctx, "jobs:read", { projectInPath: projectId });
  const { environment } = access.authorize(ctx, "jobs:read", "rows");
  const cursor = readCursor("job", query.cursor);
  const rows = await withTenant(project.id, (tx) =>
    tx.job.findMany({
      where: {
        projectId: project.id,
        ...(environment === null ? {} : { environment }),
        ...(cursor ? { id: { lt: cursor } } : {}),
        ...(query.status ? { status: query.status } : {}),
        // Also where the status says so: the index of these jobs holds no others.
        ...(query.status && !TERMINAL.includes(query.status) ? { completedAt: null } : {}),
        ...(query.capabilityKey ? { capabilityKey: query.capabilityKey } : {}),
        ...withTags(query.tag),
        ...(query.outcome === "failed" ? { status: "failed" } : {}),
        ...(query.outcome === "reusable" ? { status: "succeeded", artifactCount: { gt: 0 } } : {}),
        ...(query.selected === undefined
          ? {}
          : { selectedArtifactId: query.selected ? { not: null } : null }),
        ...(query.status && query.outcome ? { AND: [{ status: query.status }] } : {}),
      },
      select: LISTED,
      orderBy: { id: "desc" },
      take: query.limit + 1,
    }),
  );
  return toPage(rows, query.limit);
}

/** The jobs the caller submitted itself, newest first. */
export async function mine(
  ctx: Ctx,
  query: { limit: number; cursor?: string | undefined; tag?: string[] | undefined },
): Promise<JobPage> {
  const scope = access.authorize(ctx, "jobs:read", "rows");
  const cursor = readCursor("job", query.cursor);
  const rows = await prisma.job.findMany({
    where: {
      principalId: ctx.principal.id,
      ...(scope.organizationIds ? { organizationId: { in: scope.organizationIds } } : {}),
      ...(scope.projectId ? { projectId: scope.projectId } : {}),
      ...(cursor ? { id: { lt: cursor } } : {}),
      ...withTags(query.tag),
    },
    select: LISTED,
    orderBy: { id: "desc" },
    take: query.limit + 1,
  });
  return toPage(rows, query.limit);
}

async function toPage(rows: Listed[], limit: number): Promise<JobPage> {
  const holds = await readHolds(rows.map(({ id }) => id));
  return nullEndedPageOf(rows, limit, (row) => toListItem(row, holds.get(row.id) ?? null));
}

/** Jobs that have all of these tags; that they have any is said too, for the index holds only those. */
const withTags = (tags: string[] | undefined) =>
  tags?.length ? { tags: { hasEvery: tags }, NOT: { tags: { isEmpty: true } } } : {};
