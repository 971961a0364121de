import type { JobListItem, JobPage, ListJobs, ListProjectJobs } from "@/server/contract/jobs";
import type { OfWork } from "@/server/contract/work";
import { access, type ReadScope } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { soughtSpellings } from "@/server/domain/envelope";
import {
  BOUND,
  earlierOf,
  floorWithin,
  idsBetween,
  laterOf,
  nullEndedPageOf,
  readCursor,
} from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { usdToMicros } from "@/server/platform/money";
import { readInScope, type TenantScope } from "@/server/sql/tenant";
import {
  type Filters,
  findByWorker,
  floorInProject,
  floorOfPrincipal,
  listJobLines,
  listNamedJobLines,
  readPlaces,
  readReleasedKeys,
} from "./list";
import { toJobListItem } from "./view";
import { toWork, WORK_GIVEN } from "./works";

/**
 * The jobs of a project that the caller may see, newest first, paged by id because ids sort by time. Lines
 * never contain prompts or error messages.
 */
export async function history(ctx: Ctx, projectId: string, query: ListProjectJobs): Promise<JobPage> {
  const scope = await scopeOf(ctx, projectId);
  const { filters, floor } = await boundedIn(projectId, scope, query);
  return nullEndedPageOf(await readInScope(listJobLines, scope, filters), query.limit, toJobListItem, floor);
}

/** The same page, with the name that the panel gives each job. */
export async function namedHistory(
  ctx: Ctx,
  projectId: string,
  query: ListProjectJobs,
): Promise<{ items: OfWork<JobListItem>[]; nextCursor: string | null }> {
  const scope = await scopeOf(ctx, projectId);
  const { filters, floor } = await boundedIn(projectId, scope, query);
  const rows = await readInScope(listNamedJobLines, scope, { ...filters, ...WORK_GIVEN });
  return nullEndedPageOf(rows, query.limit, (row) => ({ ...toJobListItem(row), work: toWork(row) }), floor);
}

/** The jobs that the caller submitted, newest first. */
export async function mine(ctx: Ctx, query: ListJobs): Promise<JobPage> {
  const { organizationIds, projectId, environment } = access.authorize(ctx, "jobs:read", "rows");
  const scope = { organizationIds, projectId, environment, principalId: null };
  const filters = await filtersOf(scope, query);
  const own = { ...scope, environment: null, principalId: ctx.principal.id };
  const floor = isAnyAsked(query) ? await floorOfPrincipal(own.principalId, filters.before) : null;
  const rows = await readInScope(listJobLines, own, {
    ...filters,
    notBefore: laterOf(filters.notBefore, floor),
  });
  return nullEndedPageOf(rows, query.limit, toJobListItem, floorWithin(floor, filters.notBefore));
}

type Bounded = { filters: Filters; floor: string | null };

/** The filters of a project's list, with the id at which the page stops if no index serves them. */
async function boundedIn(projectId: string, scope: TenantScope, query: ListProjectJobs): Promise<Bounded> {
  const filters = await filtersOf(scope, query);
  const { before, notBefore } = filters;
  if (isServed(query)) return { filters, floor: null };
  const most = isByWorker(query) ? BOUND.entries : BOUND.rows;
  const floor = await floorInProject(projectId, before, most);
  const bounded = { ...filters, notBefore: laterOf(notBefore, floor) };
  if (!isByWorker(query)) return { filters: bounded, floor: floorWithin(floor, notBefore) };
  const found = await findByWorker.all(pool, { ...bounded, projectId, environment: scope.environment });
  const ids = found.slice(0, query.limit).map(({ id }) => id);
  const isFull = found.length > query.limit;
  return {
    filters: { ...bounded, ids },
    floor: isFull ? (ids.at(-1) ?? null) : floorWithin(floor, notBefore),
  };
}

const isAsked = (value: unknown) => value !== undefined && value !== "";
const askedOf = ({
  status,
  outcome,
  capabilityKey,
  provider,
  model,
  principalId,
  minCostUsd,
  tag,
  selected,
}: ListProjectJobs) =>
  Object.entries({
    status,
    outcome,
    capabilityKey,
    provider,
    model,
    principalId,
    minCostUsd,
    tag: tag?.length ? tag : undefined,
    selected,
  })
    .filter(([, value]) => isAsked(value))
    .map(([name]) => name);

/** An idempotency key finds few jobs, whatever else is asked. */
const isAnyAsked = (query: ListProjectJobs) =>
  query.idempotencyKey === undefined && askedOf(query).length > 0;

/** True if one index has, in the order of the page, only the entries that match the filters. */
function isServed(query: ListProjectJobs): boolean {
  const asked = askedOf(query);
  if (query.idempotencyKey !== undefined || asked.length === 0) return true;
  if (asked.length > 1) return false;
  const isOfStatus = isAsked(query.status) && query.status !== "succeeded";
  return (
    isOfStatus || query.outcome === "failed" || isAsked(query.capabilityKey) || isAsked(query.principalId)
  );
}

const isByWorker = (query: ListProjectJobs) =>
  askedOf(query).every((name) => name === "provider" || name === "model");

/** The scope of jobs in this project that the caller may see. */
async function scopeOf(ctx: Ctx, projectInPath: string): Promise<TenantScope> {
  const { id: projectId } = await access.authorize(ctx, "jobs:read", { projectInPath });
  const { environment } = access.authorize(ctx, "jobs:read", "rows");
  return { organizationIds: null, projectId, environment, principalId: null };
}

/**
 * The filters of a project's list and of the caller's own list. Only a filter by idempotency key runs further
 * statements.
 */
async function filtersOf(scope: ReadScope, query: ListProjectJobs): Promise<Filters> {
  const { tag } = query;
  const createdAfter = query.createdAfter ? new Date(query.createdAfter) : null;
  const createdBefore = query.createdBefore ? new Date(query.createdBefore) : null;
  const window = idsBetween("job", createdAfter, createdBefore);
  return {
    before: earlierOf(readCursor("job", query.cursor), window.above),
    notBefore: window.least,
    ids: null,
    status: query.status ?? null,
    outcome: query.outcome ?? null,
    capabilityKey: query.capabilityKey || null,
    submitter: query.principalId || null,
    createdAfter,
    createdBefore,
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
 * Every spelling under which jobs in this scope may have the key, and their projects; null if no key is
 * given. Former jobs of a released key are included.
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
  const released = await readReleasedKeys.all(pool, { projectIds, spellings });
  const keys = [...spellings, ...released.map(({ idempotency_key }) => idempotency_key)];
  return { keys, keyProjectIds: projectIds };
}
