import { type JobPage, type ListJobs, type ListProjectJobs, TERMINAL } from "@/server/contract/jobs";
import { access, type ReadScope } from "@/server/domain/access";
import { readHolds } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { soughtSpellings } from "@/server/domain/envelope";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { pool, prisma, type Tx, withTenant } from "@/server/platform/db";
import { usdToMicros } from "@/server/platform/money";
import { LISTED, type Listed, toListItem } from "./view";

/** The jobs of a project that the caller may see, newest first, by keyset: ids sort by time. Lines never carry prompts or error messages. */
export async function history(ctx: Ctx, projectId: string, query: ListProjectJobs): Promise<JobPage> {
  const project = await access.authorize(ctx, "jobs:read", { projectInPath: projectId });
  const { environment } = access.authorize(ctx, "jobs:read", "rows");
  const cursor = readCursor("job", query.cursor);
  const sought = await withKey(query.idempotencyKey, [project.id], environment);
  const rows = await withTenant(project.id, (tx) =>
    tx.job.findMany({
      where: {
        projectId: project.id,
        ...(environment === null ? {} : { environment }),
        ...(cursor ? { id: { lt: cursor } } : {}),
        ...filtered(query),
        ...sought,
        ...(query.selected === undefined
          ? {}
          : { selectedArtifactId: query.selected ? { not: null } : null }),
      },
      select: LISTED,
      orderBy: { id: "desc" },
      take: query.limit + 1,
    }),
  );
  return toPage(rows, query.limit);
}

/** The jobs the caller submitted itself, newest first. */
export async function mine(ctx: Ctx, query: ListJobs): Promise<JobPage> {
  const scope = access.authorize(ctx, "jobs:read", "rows");
  const cursor = readCursor("job", query.cursor);
  const { idempotencyKey: key } = query;
  const projectIds = key === undefined ? [] : scope.projectId ? [scope.projectId] : await projectsIn(scope);
  const sought = await withKey(key, projectIds, scope.environment);
  const rows = await prisma.job.findMany({
    where: {
      principalId: ctx.principal.id,
      ...(scope.organizationIds ? { organizationId: { in: scope.organizationIds } } : {}),
      ...(scope.projectId ? { projectId: scope.projectId } : {}),
      ...sought,
      ...(cursor ? { id: { lt: cursor } } : {}),
      ...filtered(query),
    },
    select: LISTED,
    orderBy: { id: "desc" },
    take: query.limit + 1,
  });
  return toPage(rows, query.limit);
}

/** Jobs under a key in these projects, in one environment or any. The index of keys begins with the project and the operation. */
async function withKey(
  key: string | undefined,
  projectIds: string[],
  environment: string | null,
): Promise<Where> {
  if (key === undefined) return {};
  const projectId = { in: projectIds };
  const environments =
    environment === null
      ? await prisma.environment.findMany({
          where: { projectId },
          select: { slug: true },
          distinct: ["slug"],
        })
      : [{ slug: environment }];
  const spellings = soughtSpellings(
    key,
    environments.map(({ slug }) => slug),
  );
  // A key that is free again was a job's all the same: that one is found by what stands for it in the index of keys.
  const { rows } = await pool.query<{ key: string }>({
    name: "keys-released",
    text: "SELECT idempotency_key AS key FROM job WHERE project_id = ANY($1) AND released_key = ANY($2)",
    values: [projectIds, spellings],
  });
  const keys = [...spellings, ...rows.map((row) => row.key)];
  return { projectId, operation: { in: ["jobs", "invoke"] }, idempotencyKey: { in: keys } };
}

/** The projects of a caller that is bound to none. */
async function projectsIn({ organizationIds }: ReadScope): Promise<string[]> {
  const projects = await prisma.project.findMany({
    where: organizationIds ? { organizationId: { in: organizationIds } } : {},
    select: { id: true },
  });
  return projects.map(({ id }) => id);
}

async function toPage(rows: Listed[], limit: number): Promise<JobPage> {
  const holds = await readHolds(rows.map(({ id }) => id));
  return nullEndedPageOf(rows, limit, (row) => toListItem(row, holds.get(row.id) ?? null));
}

type Where = NonNullable<NonNullable<Parameters<Tx["job"]["findMany"]>[0]>["where"]>;

/** What both lists filter by. Filters are joined by AND, so they never show a job that the caller could not list without them. */
function filtered(query: ListJobs): Where {
  const { status, capabilityKey, outcome, createdAfter, createdBefore, provider, model, idempotencyKey } =
    query;
  const [named, ...rest] = model?.split("/") ?? [];
  const most = query.minCostUsd === undefined ? undefined : { gte: usdToMicros(query.minCostUsd) };
  const all: Where[] = [
    ...(status ? [{ status }] : []),
    // Also where the status says so: the index of these jobs holds no others.
    ...(status && !TERMINAL.includes(status) ? [{ completedAt: null }] : []),
    ...(capabilityKey ? [{ capabilityKey }] : []),
    ...(outcome === "failed" ? [{ status: "failed" }] : []),
    ...(outcome === "reusable" ? [{ status: "succeeded", artifactCount: { gt: 0 } }] : []),
    ...(createdAfter ? [{ createdAt: { gte: new Date(createdAfter) } }] : []),
    ...(createdBefore ? [{ createdAt: { lt: new Date(createdBefore) } }] : []),
    ...(query.principalId ? [{ principalId: query.principalId }] : []),
    // Who did the work of a blind job, for how much, and under which key may not be found out by asking for it.
    ...(provider || model || most || idempotencyKey ? [{ isBlind: false }] : []),
    ...(provider ? [{ provider }] : []),
    ...(model ? [{ OR: [{ model }, { provider: named ?? "", model: rest.join("/") }] }] : []),
    ...(most ? [{ OR: [{ actualMicros: most }, { actualMicros: null, estimatedMicros: most }] }] : []),
  ];
  return { AND: all, ...withTags(query.tag) };
}

/** Jobs that have all of these tags; that they have any is said too, for the index holds only those. */
const withTags = (tags: string[] | undefined) =>
  tags?.length ? { tags: { hasEvery: tags }, NOT: { tags: { isEmpty: true } } } : {};
