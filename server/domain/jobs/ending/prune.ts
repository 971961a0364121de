import { artifactStore, lockContent, mayRemove } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import { artifact, payload } from "@/server/generated/schema";
import { inTransaction, pool, type Queryable } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { HOUR_MS } from "@/server/platform/time/units";
import { pick, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { guardMs } from "../admission/repeats";

const BATCH = 500;
/** Younger bytes stay, because a row that is about to be written may name them. */
const YOUNG_MS = HOUR_MS;
const ENDED = "('succeeded', 'failed', 'canceled')";

export type Pruned = {
  payloads: number;
  texts: number;
  deliveries: number;
  artifacts: number;
  objects: number;
};

/**
 * Removes content whose retention has ended; an execution keeps its content until it has ended. Hashes,
 * figures and names stay. Each batch is committed on its own, so this may run at any time, in several
 * processes at once, and again after a crash. Without `projectId` it covers all projects.
 */
export async function prune(
  ctx: Ctx,
  { projectId = null }: { projectId?: string | null } = {},
): Promise<Pruned> {
  const now = ctx.now();
  const done: Pruned = { payloads: 0, texts: 0, deliveries: 0, artifacts: 0, objects: 0 };
  await inBatches(async () => {
    const { payloads, texts } = await prunePayloads(now, projectId);
    done.payloads += payloads;
    done.texts += texts;
    return payloads;
  });
  await inBatches(async () => {
    const count = await pruneTexts(now, projectId);
    done.texts += count;
    return count;
  });
  await inBatches(async () => {
    const count = await pruneDeliveries(projectId);
    done.deliveries += count;
    return count;
  });
  await forgetRepeats(now, projectId);
  let after = "";
  for (;;) {
    const { rows, artifacts, objects } = await pruneArtifacts(now, after, projectId);
    done.artifacts += artifacts;
    done.objects += objects;
    if (rows.length < BATCH) break;
    after = rows.at(-1)!.id;
  }
  return done;
}

/** The rows that are due at `now`, of one project or of all. */
const DUE = { now: timestamptz, ...pick(SCOPE, "projectId") };

const clearRepeats = statement("job.update.cleared_repeats", {
  params: DUE,
  sql: `UPDATE job SET repeat_hash = NULL
    WHERE repeat_hash IS NOT NULL AND completed_at <= $now AND ${inScope(pick(SCOPE, "projectId"))}`,
});

/** Clears the repeat hash of executions that ended too long ago to answer a repeat. */
const forgetRepeats = (now: Date, projectId: string | null): Promise<void> =>
  clearRepeats.run(pool, { now: new Date(now.getTime() - guardMs()), projectId });

async function inBatches(work: () => Promise<number>): Promise<void> {
  while ((await work()) >= BATCH);
}

/** SQL: the job keeps the highest frame id in `gone`, because a reader may resume after a removed frame. */
const REMEMBER_FRAMES = `UPDATE job SET last_frame = greatest(last_frame, newest.id)
  FROM (SELECT job_id, max(id) AS id FROM gone GROUP BY job_id) newest WHERE job.id = newest.job_id`;

const clearPayloads = statement("payload.update.cleared", {
  params: DUE,
  row: pick(payload, "job_id"),
  sql: `WITH due AS (
      SELECT payload.id FROM payload
      WHERE content IS NOT NULL AND expires_at <= $now AND ${inScope(pick(SCOPE, "projectId"), "payload")}
        AND (job_id IS NULL OR EXISTS (SELECT FROM job WHERE job.id = payload.job_id AND job.status IN ${ENDED}))
        AND (pinned_id IS NULL OR EXISTS (
          SELECT FROM pinned_execution pin WHERE pin.id = payload.pinned_id AND pin.status NOT IN ('queued', 'running')))
        AND (bulk_id IS NULL OR EXISTS (
          SELECT FROM pinned_bulk bulk WHERE bulk.id = payload.bulk_id AND bulk.status NOT IN ('accepted', 'running')))
      ORDER BY expires_at LIMIT ${BATCH} FOR UPDATE OF payload SKIP LOCKED
    )
    UPDATE payload SET content = NULL FROM due WHERE payload.id = due.id RETURNING payload.job_id`,
});

const deleteTextsOf = statement("event_text.delete.of_jobs", {
  params: { jobIds: texts },
  sql: `WITH held AS MATERIALIZED (SELECT id FROM job WHERE id = ANY($jobIds) ORDER BY id FOR NO KEY UPDATE),
      texts AS (DELETE FROM event_text WHERE job_id IN (SELECT id FROM held) RETURNING 1),
      gone AS (DELETE FROM stream_frame WHERE job_id IN (SELECT id FROM held) RETURNING job_id, id),
      remembered AS (${REMEMBER_FRAMES})
    SELECT FROM texts UNION ALL SELECT FROM gone`,
});

/**
 * Removes the content of payloads: requests, outputs, providers' answers and stored inputs. A job's texts and
 * frames are removed together with its first removed payload. A payload that the items of a bulk share stays
 * until the bulk has ended.
 */
async function prunePayloads(
  now: Date,
  projectId: string | null,
): Promise<{ payloads: number; texts: number }> {
  const rows = await clearPayloads.all(pool, { now, projectId });
  const jobIds = [...new Set(rows.map((row) => row.job_id).filter((id) => id !== null))];
  if (jobIds.length === 0) return { payloads: rows.length, texts: 0 };
  return { payloads: rows.length, texts: await deleteTextsOf.count(pool, { jobIds }) };
}

const deleteDue = (table: "event_text" | "stream_frame", id: string, remember: string) =>
  statement(`${table}.delete.due`, {
    params: DUE,
    sql: `WITH due AS MATERIALIZED (
        SELECT text.job_id, text.${id} AS place FROM ${table} text JOIN job ON job.id = text.job_id
        WHERE text.expires_at <= $now AND ${inScope(pick(SCOPE, "projectId"), "text")} AND job.status IN ${ENDED}
        ORDER BY text.expires_at LIMIT ${BATCH} FOR NO KEY UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM ${table} text USING due WHERE text.job_id = due.job_id AND text.${id} = due.place
        RETURNING text.job_id, text.${id} AS id
      ), remembered AS (${remember})
      SELECT FROM gone`,
  });
const DELETE_DUE = [
  deleteDue("event_text", "event_id", "SELECT FROM gone"),
  deleteDue("stream_frame", "id", REMEMBER_FRAMES),
];

/**
 * Removes texts and frames whose own retention has ended. Returns the larger of the two counts, so that
 * batches continue while either table may have more.
 */
async function pruneTexts(now: Date, projectId: string | null): Promise<number> {
  let most = 0;
  for (const each of DELETE_DUE) most = Math.max(most, await each.count(pool, { now, projectId }));
  return most;
}

const clearBodies = statement("delivery.update.cleared_bodies", {
  params: pick(SCOPE, "projectId"),
  sql: `WITH due AS (
      SELECT delivery.id FROM delivery
      WHERE body IS NOT NULL AND job_id IS NOT NULL AND state IN ('succeeded', 'failed', 'disabled')
        AND ${inScope(pick(SCOPE, "projectId"), "delivery")}
        AND EXISTS (SELECT FROM payload WHERE payload.job_id = delivery.job_id AND payload.kind = 'request' AND payload.content IS NULL)
      LIMIT ${BATCH} FOR UPDATE OF delivery SKIP LOCKED
    )
    UPDATE delivery SET body = NULL FROM due WHERE delivery.id = due.id`,
});

/**
 * Removes the bodies of deliveries that need no further sending, if the request of their job is no longer
 * kept.
 */
const pruneDeliveries = (projectId: string | null): Promise<number> => clearBodies.count(pool, { projectId });

/**
 * SQL condition: the artifact has expired, and no request that named it is about to write the row that keeps
 * it.
 */
const IS_DUE = "expires_at <= $now AND (kept_until IS NULL OR kept_until <= $now)";

const listDueArtifacts = statement("artifact.list.due", {
  params: { ...DUE, after: text },
  row: pick(artifact, "id sha256"),
  sql: `SELECT id, sha256 FROM artifact
    WHERE pruned_at IS NULL AND ${IS_DUE} AND id > $after AND ${inScope(pick(SCOPE, "projectId"), "artifact")} AND NOT EXISTS (
      SELECT FROM job_artifact JOIN job ON job.id = job_artifact.job_id
      WHERE job_artifact.artifact_id = artifact.id AND job_artifact.project_id = artifact.project_id AND job.status NOT IN ${ENDED})
      AND NOT EXISTS (SELECT FROM model_adapter WHERE artifact_id = artifact.id AND deleted_at IS NULL)
      AND NOT EXISTS (SELECT FROM model_adapter adapter JOIN job ON job.project_id = adapter.project_id
        WHERE adapter.artifact_id = artifact.id AND job.status NOT IN ${ENDED}
          AND job.pricing->'adapters'->'used' @> jsonb_build_array(jsonb_build_object('artifactId', artifact.id)))
      AND (project_id, id) NOT IN (SELECT job.project_id, source.id
        FROM job CROSS JOIN jsonb_array_elements_text(job.pricing->'sources') AS source(id)
        WHERE job.completed_at IS NULL AND job.project_id IN (
          SELECT due.project_id FROM artifact due WHERE due.pruned_at IS NULL AND due.expires_at <= $now))
    ORDER BY id LIMIT ${BATCH}`,
});

/**
 * Removes expired artifacts: first the bytes, unless another artifact has the same ones, then the row is
 * marked. After a crash in between, the next run finds the bytes gone and marks the row.
 */
async function pruneArtifacts(now: Date, after: string, projectId: string | null) {
  const rows = await listDueArtifacts.all(pool, { now, after, projectId });
  const idsOf = new Map<string, string[]>();
  for (const { id, sha256 } of rows) idsOf.set(sha256, [...(idsOf.get(sha256) ?? []), id]);
  const done = { rows, artifacts: 0, objects: 0 };
  for (const [sha256, ids] of idsOf) {
    try {
      const { outcome, artifacts } = await inTransaction((client) => removeContent(client, sha256, ids, now));
      if (outcome === "young") continue;
      if (outcome === "removed") done.objects++;
      done.artifacts += artifacts;
    } catch (cause) {
      log.error(
        { err: cause, sha256 },
        "an artifact's content could not be removed; the next run tries again",
      );
    }
  }
  return done;
}

const lockDue = statement("artifact.lock.due", {
  params: { ids: texts, now: timestamptz },
  row: pick(artifact, "id"),
  sql: `SELECT id FROM artifact WHERE id = ANY($ids) AND pruned_at IS NULL AND ${IS_DUE} ORDER BY id FOR NO KEY UPDATE`,
});
const markPruned = statement("artifact.update.pruned", {
  params: { ids: texts, now: timestamptz },
  sql: "UPDATE artifact SET pruned_at = $now WHERE id = ANY($ids) AND pruned_at IS NULL",
});

/**
 * Removes content under its lock: no row can name the content meanwhile, and a prune of another artifact with
 * the same content waits and then sees these rows. An artifact that a request has named since it was found
 * stays.
 */
async function removeContent(
  client: Queryable,
  sha256: string,
  found: string[],
  now: Date,
): Promise<{ outcome: "removed" | "gone" | "shared" | "young" | "kept"; artifacts: number }> {
  // A backup may need the content now; a later pass removes it.
  if (!(await mayRemove(client))) return { outcome: "kept", artifacts: 0 };
  await lockContent(client, sha256);
  const rows = await lockDue.all(client, { ids: found, now });
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return { outcome: "kept", artifacts: 0 };
  const outcome = await removeBytes(client, sha256, ids, now);
  if (outcome !== "young") await markPruned.run(client, { ids, now });
  return { outcome, artifacts: ids.length };
}

const findSharing = statement("artifact.find.sharing_content", {
  params: { sha256: text, ids: texts },
  row: pick(artifact, "id"),
  sql: "SELECT id FROM artifact WHERE sha256 = $sha256 AND pruned_at IS NULL AND id <> ALL($ids) LIMIT 1",
});

async function removeBytes(
  client: Queryable,
  sha256: string,
  ids: string[],
  now: Date,
): Promise<"removed" | "gone" | "shared" | "young"> {
  if (await findSharing.first(client, { sha256, ids })) return "shared";
  const stored = await artifactStore().stat(sha256);
  if (!stored) return "gone";
  if (now.getTime() - stored.storedAt.getTime() < YOUNG_MS) return "young";
  await artifactStore().remove(sha256);
  return "removed";
}
