import type { JobListItem, JobPage, ListJobs, ListProjectJobs } from "@/server/contract/jobs";
import type { OfWork } from "@/server/contract/work";
import { access, type ReadScope } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { soughtSpellings } from "@/server/domain/envelope";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { usdToMicros } from "@/server/platform/money";
import { readInScope, type TenantScope } from "@/server/sql/tenant";
import { type Filters, listJobs, listJobsNamed, readPlaces, readReleasedKeys } from "./list";
import { toListItem } from "./view";
import { WORK_GIVEN, workOf } from "./works";

/**
 * The jobs of a project that the caller may see, newest first, paged by id because ids sort by time. Lines
 * never contain prompts or error messages.
 */
export async function history(ctx: Ctx, projectId: string, query: ListProjectJobs): Promise<JobPage> {
  const scope = await scopeOf(ctx, projectId);
  const rows = await readInScope(listJobs, scope, await filtersOf(scope, query));
  return nullEndedPageOf(rows, query.limit, toListItem);
}

/** The same page, with the name that the panel gives each job. */
export async function namedHistory(
  ctx: Ctx,
  projectId: string,
  query: ListProjectJobs,
): Promise<{ items: OfWork<JobListItem>[]; nextCursor: string | null }> {
  const scope = await scopeOf(ctx, projectId);
  const given = { ...(await filtersOf(scope, query)), ...WORK_GIVEN };
  const rows = await readInScope(listJobsNamed, scope, given);
  return nullEndedPageOf(rows, query.limit, (row) => ({ ...toListItem(row), work: workOf(row) }));
}

/** The jobs that the caller submitted, newest first. */
export async function mine(ctx: Ctx, query: ListJobs): Promise<JobPage> {
  const { organizationIds, projectId, environment } = access.authorize(ctx, "jobs:read", "rows");
  const scope = { organizationIds, projectId, environment, principalId: null };
  const filters = await filtersOf(scope, query);
  const own = { ...scope, environment: null, principalId: ctx.principal.id };
  return nullEndedPageOf(await readInScope(listJobs, own, filters), query.limit, toListItem);
}

/** The scope of jobs in this project that the caller may see. */
async function scopeOf(ctx: Ctx, projectInPath: string): Promise<TenantScope> {
  const { id: projectId } = await access.authorize(ctx, "jobs:read", { projectInPath });
  const { environment } = access.authorize(ctx, "jobs:read", "rows");
  return { organizationIds: null, projectId, environment, principalId: null };
}

/** Filters of both lists. Only a key costs further statements. */
async function filtersOf(scope: ReadScope, query: ListProjectJobs): Promise<Filters> {
  const { createdAfter, createdBefore, tag } = query;
  return {
    before: readCursor("job", query.cursor),
    status: query.status ?? null,
    outcome: query.outcome ?? null,
    capabilityKey: query.capabilityKey || null,
    submitter: query.principalId || null,
    createdAfter: createdAfter ? new Date(createdAfter) : null,
    createdBefore: createdBefore ? new Date(createdBefore) : null,
    provider: query.provider || null,
    model: query.model || null,
    minMicros: query.minCostUsd === undefined ? null : usdToMicros(query.minCostUsd),
    tags: tag?.length ? tag : null,
    isSelected: query.selected ?? null,
    limit: query.limit + 1,
    ...(await soughtKeys(scope, query.idempotencyKey)),
  };
}

/**
 * Every spelling under which jobs of these places may have the key, and their projects. Former jobs of a
 * released key are included.
 */
async function soughtKeys(
  { organizationIds, projectId, environment }: ReadScope,
  key: string | undefined,
): Promise<Pick<Filters, "keys" | "keyProjectIds">> {
  if (key === undefined) return { keys: null, keyProjectIds: null };
  const isBound = projectId !== null && environment !== null;
  const places = isBound
    ? [{ project_id: projectId, environment }]
    : await readInScope(readPlaces, { organizationIds, projectId }, {});
  const environments =
    environment === null ? places.flatMap((place) => place.environment ?? []) : [environment];
  const spellings = soughtSpellings(key, [...new Set(environments)]);
  const projectIds = [...new Set(places.map(({ project_id }) => project_id))];
  const released = await readInScope(readReleasedKeys, { projectIds }, { spellings });
  const keys = [...spellings, ...released.map(({ idempotency_key }) => idempotency_key)];
  return { keys, keyProjectIds: projectIds };
}
