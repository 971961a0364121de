import { randomInt } from "node:crypto";
import type { Comparison, ComparisonCreateRequest } from "@/server/contract/comparisons";
import { access } from "@/server/domain/access";
import { getCapability } from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import {
  admitOnce,
  checkCallerFields,
  checkCallerObject,
  type First,
  type Holder,
  type SentKey,
  settleKey,
} from "@/server/domain/envelope";
import { requireDurable, submitTogether } from "@/server/domain/jobs";
import { comparison, comparisonEntry } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { contentOf, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { column, maybe, pick, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { requestOf, toComparisonFault, toStoredCompetitor } from "./competitors";
import { get } from "./get";

const RIGHT = "capabilities:run";

/** Thrown to roll a comparison back whose idempotency key another request has taken. */
const TAKEN = Symbol("taken");

const insertComparison = statement("comparison.insert", {
  params: {
    comparisonId: comparison.id,
    organizationId: comparison.organization_id,
    projectId: comparison.project_id,
    environment: comparison.environment,
    principalId: comparison.principal_id,
    key: comparison.capability_key,
    intent: comparison.intent,
    workloadTags: comparison.workload_tags,
    idempotencyKey: comparison.idempotency_key,
    requestHash: comparison.request_hash,
    seed: comparison.seed,
    estimatedMicros: comparison.estimated_micros,
    maximumMicros: comparison.maximum_micros,
    createdAt: maybe(timestamptz),
  },
  sql: `INSERT INTO comparison (id, organization_id, project_id, environment, principal_id, capability_key, intent,
             workload_tags, idempotency_key, request_hash, seed, estimated_micros, maximum_micros, created_at)
           VALUES ($comparisonId, $organizationId, $projectId, $environment, $principalId, $key, $intent,
             $workloadTags, $idempotencyKey, $requestHash, $seed, $estimatedMicros, $maximumMicros, $createdAt)
           ON CONFLICT (project_id, idempotency_key) DO NOTHING`,
});

const insertEntries = statement("comparison_entry.insert", {
  params: {
    projectId: comparisonEntry.project_id,
    comparisonId: comparisonEntry.comparison_id,
    entryIds: texts,
    jobIds: texts,
    competitors: column<string[]>("jsonb[]"),
  },
  sql: `INSERT INTO comparison_entry (id, project_id, comparison_id, position, job_id, competitor)
           SELECT entry_id, $projectId, $comparisonId, position, job_id, competitor
           FROM unnest($entryIds::text[], $jobIds::text[], $competitors::jsonb[]) WITH ORDINALITY AS entry(entry_id, job_id, competitor, position)`,
});

/**
 * Creates a comparison with its jobs and holds, all in one transaction. A repeated idempotency key in a
 * project returns the current state of the first comparison; with a different request it is an
 * IdempotencyConflict.
 */
export async function create(
  ctx: Ctx,
  capabilityKey: string,
  body: ComparisonCreateRequest,
  idempotencyHeader?: string | SentKey,
): Promise<Comparison> {
  const capability = getCapability(capabilityKey);
  requireDurable(capability);
  const key = settleKey(body.idempotencyKey, idempotencyHeader) ?? null;
  const project = await access.authorize(ctx, "jobs:submit", { place: body.context });
  const { environment, refusal } = project;
  checkCallerObject(body.workloadTags, ["workloadTags"]);
  const context = { ...body.context, projectId: project.id, environment };
  const { competitors, input, intent, workloadTags, tags } = body;
  checkCallerFields({ externalRef: null, tags, metadata: {} });
  const named = { capability: capability.key, context, competitors, input, intent, workloadTags };
  // Without tags the hash must stay the one that older versions computed.
  const said = tags.length > 0 ? { ...named, tags } : named;
  const requestHash = `v1:${(await contentOf(plainJson(said))).sha256}`;
  const comparisonId = newId("comparison");
  const seed = randomInt(2 ** 31);
  const order = shuffled(competitors.length, seed);
  // The ids are created in this order, so they sort by position and entries keep their order everywhere.
  const entryIds = order.map(() => newId("comparisonEntry"));
  const connections = await connectionsOf({ id: project.id, environment });
  const requests = competitors.map((competitor, place) => ({
    ...requestOf(capability, connections, { input, competitor, place }),
    context,
    tags,
    correlationId: comparisonId,
    idempotencyKey: entryIds[order.indexOf(place)] ?? null,
  }));
  const kept = competitors.map((competitor, place) => toStoredCompetitor(capability, competitor, place));
  const admit = async (spelling: string | null) => {
    if (refusal) throw refusal;
    await submitTogether(ctx, capability, {
      comparisonId,
      requests,
      order,
      refusal: (place, cause) => toComparisonFault(competitors, place, cause),
      attach: async (client, jobs) => {
        const sum = (of: (job: (typeof jobs)[number]) => number) =>
          jobs.reduce((total, job) => total + of(job), 0);
        const rowCount = await insertComparison.count(client, {
          comparisonId,
          organizationId: project.organizationId,
          projectId: project.id,
          environment,
          principalId: ctx.principal.id,
          key: capability.key,
          intent,
          workloadTags,
          idempotencyKey: spelling,
          requestHash,
          seed,
          estimatedMicros: sum(({ estimatedMicros }) => estimatedMicros),
          maximumMicros: sum(({ maximumMicros }) => maximumMicros),
          createdAt: jobs[0]?.createdAt,
        });
        if (rowCount === 0) throw TAKEN;
        await insertEntries.run(client, {
          projectId: project.id,
          comparisonId,
          entryIds,
          jobIds: jobs.map(({ jobId }) => jobId),
          competitors: jobs.map(({ place }) => JSON.stringify(kept[place])),
        });
      },
    });
    return { id: comparisonId };
  };
  const find = (spellings: string[]) => comparisonsOfKey(project.id, spellings);
  const admitted = await admitOnce({ key, hash: requestHash, environment }, find, admit);
  return get(ctx, "first" in admitted ? admitted.first.id : admitted.fresh.id, RIGHT);
}

const listOfKey = statement("comparison.list.key", {
  params: { projectId: text, spellings: texts },
  row: {
    ...pick(comparison, "id environment"),
    hash: comparison.request_hash,
    spelling: present(comparison.idempotency_key, "its condition excludes null"),
  },
  sql: `SELECT id, request_hash AS hash, idempotency_key AS spelling, environment FROM comparison
           WHERE project_id = $projectId AND idempotency_key = ANY($spellings)`,
  prepared: true,
});

/** Finds the comparisons with any of these spellings of a key. */
async function comparisonsOfKey(projectId: string, spellings: string[]): Promise<(First & Holder)[]> {
  const rows = await listOfKey.all(pool, { projectId, spellings });
  return rows;
}

/** Returns the places of the competitors in an order that depends on the seed only. */
export function shuffled(count: number, seed: number): number[] {
  return Array.from({ length: count }, (_, place) => ({ place, drawn: sha256Hex(`${seed}:${place}`) }))
    .sort((one, other) => (one.drawn < other.drawn ? -1 : 1))
    .map(({ place }) => place);
}
