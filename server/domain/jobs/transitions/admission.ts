import type pg from "pg";
import { type Funding, RESERVATION_OF_JOB, refuseReservation, reserving } from "@/server/domain/budgets";
import { sealContent } from "@/server/domain/content";
import { goodFrom, LEASE_MS } from "@/server/domain/executions";
import { wakeAdmitted } from "@/server/domain/jobs/admission/dispatch";
import { REPEAT_COLUMNS } from "@/server/domain/jobs/admission/repeats";
import { ADMISSION_LIMITS, refuseWork, TAKEN } from "@/server/domain/plans";
import { job, jobLater } from "@/server/generated/schema";
import { batched, listedTogether } from "@/server/platform/batch";
import { keepConnection, pool, type Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { failpoint } from "@/server/platform/settings/failpoint";
import { LARGE, turn } from "@/server/platform/time/turn";
import {
  bool,
  column,
  int4,
  joinColumns,
  jsonb,
  maybe,
  names,
  type Of,
  omit,
  text,
  texts,
  timestamptz,
  withoutLater,
} from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { batch, statement } from "@/server/sql/statement";
import type { NewEvent } from "./moves";

const json = column<Json>("jsonb", true);

/** The columns of a new job's row that its admission sets; the statement itself begins the lease. */
const ROW = {
  ...omit(withoutLater(job, jobLater), "lease_until"),
  hold_state: column<"open" | null>("text", true),
  status: column<"queued" | "running" | "awaiting_approval">("text"),
  dispatch_state: column<"pending" | "none">("text"),
  billing_mode: text,
  metadata: json,
  warnings: json,
  maturity: json,
};

/**
 * Everything that admission writes, in one statement: key, job with its hold, request, events, and the
 * attempt of a synchronous run.
 */
const ADMISSION = {
  ...ROW,
  payload_is_sealed: bool,
  payload_id: text,
  /** Plain text here, and encrypted on its way into the row if it must be; null if it is not kept. */
  payload_content: column<string | null>("text", true),
  payload_sha256: text,
  payload_bytes: int4,
  payload_expires_at: maybe(timestamptz),
  /** The enforcement that the call itself requests of stored budgets; it never weakens theirs. */
  budget_enforcement: column<"off" | "warn" | "prevent" | null>("text", true),
  is_test: bool,
  attempt_id: maybe(text),
  attempt_submission: column<"not_attempted" | "ambiguous" | null>("text", true),
  events: jsonb<NewEvent[]>(),
  ...ADMISSION_LIMITS,
  ...REPEAT_COLUMNS,
};
export type Admission = Of<typeof ADMISSION>;

/** One row for each job that was admitted, and for each that joined another. */
const ADMITTED = {
  id: text,
  funding: column<Funding>("text", true),
  warnings: column<Record<string, Json>[] | null>("jsonb", true),
  joined: maybe(text),
};

const admitting = (name: string, counts: boolean) =>
  batch(name, {
    // The request is text or its bytes.
    input: { ...ADMISSION, payload_content: column<string | Buffer | null>("text", true) },
    row: ADMITTED,
    sql: `WITH input AS $input, earlier AS MATERIALIZED (
  SELECT id, CASE WHEN repeat_hash IS NOT NULL THEN capstan_join(repeat_hash, id, waiter_process, waiter_retries, awaits_end,
    created_at, stalled_at, guard_ms) END AS joined
  FROM input
), admitted AS (
  INSERT INTO job (${names(ROW)}, lease_until, admitted_events, webhook_event, repeat_hash, waiter, waiter_process, waiter_state, waiter_retries)
  SELECT ${names(ROW)}, CASE WHEN lease_owner IS NOT NULL THEN ${leaseFor(LEASE_MS)} END, events,
    CASE WHEN EXISTS (SELECT FROM delivery_endpoint endpoint WHERE endpoint.organization_id = input.organization_id) THEN 0 END,
    CASE WHEN awaits_end THEN repeat_hash END, CASE WHEN repeat_hash IS NOT NULL THEN id END, waiter_process,
    CASE WHEN repeat_hash IS NOT NULL THEN 'waiting' END, waiter_retries
  FROM input JOIN earlier USING (id) WHERE joined IS NULL
  ON CONFLICT (project_id, operation, idempotency_key) DO NOTHING
  RETURNING id
), mine AS $perInput (
  SELECT input.* FROM input JOIN admitted USING (id)
), request AS (
  INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT payload_id, project_id, id, 'request', payload_content, payload_is_sealed, payload_sha256, payload_bytes, created_at,
    payload_expires_at
  FROM mine
), ${TAKEN}, reserved AS MATERIALIZED (
  ${reserving(RESERVATION_OF_JOB, "mine, taken WHERE hold_state IS NOT NULL")}
), ${
      counts
        ? `counted AS MATERIALIZED (
  SELECT capstan_count_panel_jobs(ARRAY(SELECT principal_id FROM mine CROSS JOIN taken LEFT JOIN reserved ON reserved.execution_id = id
    WHERE principal_kind = 'panel_session'))
), `
        : ""
    }tried AS (
  INSERT INTO attempt (id, project_id, job_id, number, fence, submission, provider, model, started_at, submission_begun_at)
  SELECT attempt_id, project_id, id, 1, fence, attempt_submission, provider, model, started_at,
    CASE WHEN attempt_submission = 'ambiguous' THEN started_at END
  FROM mine WHERE attempt_id IS NOT NULL
)
SELECT id, funding, reserved.warnings, NULL AS joined
FROM mine CROSS JOIN taken LEFT JOIN reserved ON reserved.execution_id = id${counts ? " CROSS JOIN counted" : ""}
UNION ALL SELECT id, NULL, NULL, joined FROM earlier WHERE joined IS NOT NULL`,
  });

/** Serves keys and people, whose jobs have no cap. */
const admitAll = admitting("admit", false);
/** Serves batches with panel sessions, whose jobs are counted after everything else is locked. */
const admitCounting = admitting("admit-panel", true);

/** An admission for the statement: the request is text or its bytes. */
type Ready = Omit<Admission, "payload_content"> & { payload_content: string | Buffer | null };

/**
 * The items are in one order everywhere, because admissions of the same keys wait for each other and could
 * deadlock otherwise.
 */
function admission(items: Ready[]): (db: Queryable) => Promise<Of<typeof ADMITTED>[]> {
  const chosen = items.some((item) => item.principal_kind === "panel_session") ? admitCounting : admitAll;
  const inputs = items.map(sealed).toSorted(byKey);
  return (db) => chosen.all(db, inputs);
}

const byKey = (one: Ready, other: Ready) =>
  one.project_id + one.idempotency_key < other.project_id + other.idempotency_key ? -1 : 1;

/**
 * Encrypts a request that must not be stored as plain text. A request in bytes already has its stored form.
 */
function sealed(item: Ready): Ready {
  if (!item.payload_is_sealed || typeof item.payload_content !== "string") return item;
  return joinColumns(item, { payload_content: sealContent(item.payload_content, item.payload_id) });
}

/**
 * Encodes a large request to the bytes that are stored, because pg would encode and send it without a turn
 * for other work.
 */
async function encoded(item: Ready): Promise<Ready> {
  const { payload_content: content } = sealed(item);
  await turn();
  const payload_content = typeof content === "string" ? Buffer.from(content) : content;
  await turn();
  return joinColumns(item, { payload_content });
}

export type Admitted = {
  funding: Funding;
  /** Warnings of stored budgets that only warn; they are in the job's row and among its events already. */
  budgetWarnings: Record<string, Json>[];
  /** The lease, if there is one, lasts at least until this time of this process's steady clock. */
  goodUntil: number;
};

/** The request repeats another one without an idempotency key, and now waits for that one's execution. */
type Joined = { joined: string };

/**
 * Admits a job, reserves its money and wakes the engine before the answer is made. Null if the key was
 * already taken; no job is written then, nor for a repeat that joins an earlier request. Concurrent calls
 * share statements. Throws, for example BudgetExceeded or funding_required, if there is no room; nothing is
 * written then either.
 */
export async function insertAdmitted(item: Admission): Promise<Admitted | Joined | null> {
  if ((item.payload_content?.length ?? 0) <= LARGE) return insertBatched(item);
  const [found = null] = await insertAll([await encoded(item)]);
  return found;
}

const insertBatched = batched<Admission, Admitted | Joined | null>(insertAll);

async function insertAll(items: Ready[]): Promise<(Admitted | Joined | null)[]> {
  const goodUntil = goodFrom(performance.now());
  const rows = await keepConnection(admission(items)).catch(refuseWork).catch(refuseReservation);
  const found = new Map<string, Admitted | Joined>(
    rows.map(({ id, funding, warnings, joined }) => [
      id,
      joined === null ? { funding, budgetWarnings: warnings ?? [], goodUntil } : { joined },
    ]),
  );
  const admitted = items.filter(({ id }) => {
    const what = found.get(id);
    return what && !("joined" in what);
  });
  if (admitted.length > 0) failpoint("after-admission");
  await wakeAdmitted(admitted);
  return items.map((item) => found.get(item.id) ?? null);
}

const makeBlind = statement("job.update.blind", {
  params: { comparisonId: text, ids: texts },
  sql: "UPDATE job SET comparison_id = $comparisonId, is_blind = true WHERE id = ANY($ids)",
  prepared: true,
});

/**
 * Admits several jobs as the blind competitors of one comparison, inside the caller's transaction: all of
 * them, or none by throwing what `insertAdmitted` throws.
 */
export async function insertTogether(
  client: pg.PoolClient,
  comparisonId: string,
  items: Admission[],
): Promise<void> {
  const rows = await admission(items)(client).catch(refuseWork).catch(refuseReservation);
  if (rows.length !== items.length) throw new Error("the idempotency key of a competitor is taken");
  await makeBlind.run(client, { comparisonId, ids: items.map(({ id }) => id) });
}

const KEY = { projectId: text, operation: column<"jobs" | "invoke">("text"), spellings: texts };
const OF_KEY = {
  place: int4,
  id: text,
  hash: text,
  reference_hash: job.reference_hash,
  spelling: text,
  environment: text,
};

const findHolders = batch("jobs-of-key", {
  input: { place: int4, ...KEY },
  row: OF_KEY,
  sql: `WITH input AS $input
SELECT input.place, job.id, CASE WHEN job.comparison_id IS NULL THEN job.request_hash ELSE '' END AS hash,
  CASE WHEN job.comparison_id IS NULL THEN job.reference_hash END AS reference_hash, job.idempotency_key AS spelling,
  job.environment
FROM input JOIN job
  ON job.project_id = input."projectId" AND job.operation = input.operation AND job.idempotency_key = ANY(input.spellings)`,
});

/**
 * The jobs that have a spelling of a key. Concurrent calls share statements. A competitor's key belongs to
 * its comparison and has no request hash: a replay by that key would reveal which competitor it is.
 */
export const jobsOfKey = listedTogether<Of<typeof KEY>, Of<typeof OF_KEY>>((keys) =>
  findHolders.all(pool, keys),
);
