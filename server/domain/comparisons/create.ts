import { randomInt } from "node:crypto";
import { contentOf, sha256Hex } from "@/server/canonical";
import type { Comparison, ComparisonCreateRequest } from "@/server/contract/comparisons";
import { pool } from "@/server/db";
import { access } from "@/server/domain/access";
import { getCapability } from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/credentials";
import type { Ctx } from "@/server/domain/ctx";
import { checkCallerObject, refuseKey, settleKey } from "@/server/domain/envelope";
import { requireDurable, submitTogether } from "@/server/domain/jobs";
import { newId } from "@/server/ids";
import type { Json } from "@/server/step";
import { requestOf, toKept, toRefusal } from "./competitors";
import { get } from "./get";

const RIGHT = "capabilities:run";

/** Takes back a comparison whose key was taken meanwhile. */
const TAKEN = Symbol("taken");

/**
 * Puts one request to its competitors: the comparison, their jobs and holds are written together, or nothing is. The same
 * idempotency key in a project is one comparison, answered as it is by now; with another request it is IdempotencyConflict.
 */
export async function create(
  ctx: Ctx,
  capabilityKey: string,
  body: ComparisonCreateRequest,
  idempotencyHeader?: string,
): Promise<Comparison> {
  const capability = getCapability(capabilityKey);
  requireDurable(capability);
  const key = settleKey(body.idempotencyKey, idempotencyHeader) ?? null;
  const project = await access.authorize(ctx, "jobs:submit", { place: body.context });
  const { environment, refusal } = project;
  checkCallerObject(body.workloadTags, ["workloadTags"]);
  const context = { ...body.context, projectId: project.id, environment };
  const { competitors, input, intent, workloadTags } = body;
  const said = { capability: capability.key, context, competitors, input, intent, workloadTags };
  const requestHash = `v1:${(await contentOf(said as unknown as Json)).sha256}`; // parsed JSON
  const first = await firstOfKey(project.id, key);
  if (first) return get(ctx, settled(first, requestHash), RIGHT);
  if (refusal) throw refusal;

  const comparisonId = newId("comparison");
  const seed = randomInt(2 ** 31);
  const order = shuffled(competitors.length, seed);
  // Made in that order, so that they sort by position: entries stand in their own order everywhere.
  const entryIds = order.map(() => newId("comparisonEntry"));
  const connections = await connectionsOf({ id: project.id, environment });
  const requests = competitors.map((competitor, place) => ({
    ...requestOf(capability, connections, input, competitor, place),
    context,
    correlationId: comparisonId,
    idempotencyKey: entryIds[order.indexOf(place)] ?? null,
  }));
  const kept = competitors.map((competitor, place) => toKept(capability, competitor, place));
  try {
    await submitTogether(ctx, capability, {
      comparisonId,
      requests,
      order,
      refusal: (place, cause) => toRefusal(competitors, place, cause),
      attach: async (client, jobs) => {
        const sum = (of: (job: (typeof jobs)[number]) => number) =>
          jobs.reduce((total, job) => total + of(job), 0);
        const { rowCount } = await client.query(
          `INSERT INTO comparison (id, organization_id, project_id, environment, principal_id, capability_key, intent,
             workload_tags, idempotency_key, request_hash, seed, estimated_micros, maximum_micros, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
           ON CONFLICT (project_id, idempotency_key) DO NOTHING`,
          [
            comparisonId,
            project.organizationId,
            project.id,
            environment,
            ctx.principal.id,
            capability.key,
            intent,
            JSON.stringify(workloadTags),
            key,
            requestHash,
            seed,
            sum(({ estimatedMicros }) => estimatedMicros),
            sum(({ maximumMicros }) => maximumMicros),
            jobs[0]?.createdAt,
          ],
        );
        if (rowCount === 0) throw TAKEN;
        await client.query(
          `INSERT INTO comparison_entry (id, project_id, comparison_id, position, job_id, competitor)
           SELECT entry_id, $1, $2, position, job_id, competitor
           FROM unnest($3::text[], $4::text[], $5::jsonb[]) WITH ORDINALITY AS entry(entry_id, job_id, competitor, position)`,
          [
            project.id,
            comparisonId,
            entryIds,
            jobs.map(({ jobId }) => jobId),
            jobs.map(({ place }) => JSON.stringify(kept[place])),
          ],
        );
      },
    });
  } catch (cause) {
    // What was admitted once stays admitted: a route that went away meanwhile refuses no replay.
    const winner = await firstOfKey(project.id, key);
    if (winner && (cause === TAKEN || winner.request_hash === requestHash))
      return get(ctx, settled(winner, requestHash), RIGHT);
    throw cause;
  }
  return get(ctx, comparisonId, RIGHT);
}

type First = { id: string; request_hash: string };

/** What a key stands for already; null when it is free. */
async function firstOfKey(projectId: string, key: string | null): Promise<First | null> {
  if (key === null) return null;
  const { rows } = await pool.query<First>({
    name: "comparison-of-key",
    text: "SELECT id, request_hash FROM comparison WHERE project_id = $1 AND idempotency_key = $2",
    values: [projectId, key],
  });
  return rows[0] ?? null;
}

/** The id of the first comparison of a key, where it was asked for with the same request. */
function settled(first: First, requestHash: string): string {
  if (first.request_hash !== requestHash) refuseKey(first.id);
  return first.id;
}

/** The places of so many competitors in an order that this seed alone decides. */
export function shuffled(count: number, seed: number): number[] {
  return Array.from({ length: count }, (_, place) => ({ place, drawn: sha256Hex(`${seed}:${place}`) }))
    .sort((one, other) => (one.drawn < other.drawn ? -1 : 1))
    .map(({ place }) => place);
}
