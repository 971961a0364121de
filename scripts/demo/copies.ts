import { sealDocument } from "@/server/domain/receipts";
import { inTransaction, pool } from "@/server/platform/db";
import { ulid, ulidAt } from "@/server/platform/ids";
import { sha256Hex } from "@/server/platform/text/canonical";

/*
 * Makes a great number of ended jobs: copies of real ones, each with ids of its own and at another time. Everything that follows
 * from ids and times is computed again: hashes of content that names artifacts, receipts with their hash and signature. A copy's
 * charge leaves the wallet, so every figure is still the sum of its rows.
 */

type Row = Record<string, unknown>;
/** The rows of one job, by table. */
type Family = Record<string, Row[]>;

/** The tables of a job in the order that foreign keys require, each with the condition for the rows of the job $1. */
const TABLES: Record<string, string> = {
  job: "id = $1",
  attempt: "job_id = $1",
  event: "job_id = $1",
  event_text: "job_id = $1",
  stream_frame: "job_id = $1",
  payload: "job_id = $1",
  artifact: "id IN (SELECT artifact_id FROM job_artifact WHERE job_id = $1)",
  job_artifact: "job_id = $1",
  receipt: "job_id = $1",
  ledger_transaction: "job_id = $1",
};
const DAYS = 28;
const DAY_MS = 86_400_000;
const BATCH = 200;
const ULID = /[0-9a-hjkmnp-tv-z]{26}/g;
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g;

/** Numbers from 0 to 1, the same in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A moment of the last four weeks: more often recent, on weekdays and in working hours. */
function momentBefore(now: number, random: () => number): number {
  for (;;) {
    const at = new Date(now - 3_600_000 - random() ** 1.4 * DAYS * DAY_MS);
    const isBusy = at.getUTCDay() % 6 > 0 && at.getUTCHours() > 6 && at.getUTCHours() < 19;
    if (isBusy || random() < 0.3) return at.getTime();
  }
}

/**
 * Ids of the project's jobs that may be copied: ended, no retry, in no comparison, not paid from the allowance, with a
 * confirmed charge, and without sealed content, which is bound to its id.
 */
async function templatesOf(projectId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM job WHERE project_id = $1 AND completed_at IS NOT NULL AND comparison_id IS NULL AND retry_of IS NULL
       AND hold_state IS DISTINCT FROM 'ambiguous' AND hold_funding IS DISTINCT FROM 'allowance'
       AND NOT EXISTS (SELECT FROM payload WHERE job_id = job.id AND is_sealed)
     ORDER BY id`,
    [projectId],
  );
  return rows.map(({ id }) => id);
}

async function readFamily(jobId: string): Promise<Family> {
  const family: Family = {};
  for (const [table, condition] of Object.entries(TABLES)) {
    const { rows } = await pool.query<{ row: Row }>(
      `SELECT to_jsonb(mine) AS row FROM ${table} mine WHERE ${condition}`,
      [jobId],
    );
    family[table] = rows.map(({ row }) => row);
  }
  return family;
}

/** ULIDs to replace: ids of the job's own rows, not of rows that it references. */
function ownUlids(family: Family): Set<string> {
  const own = new Set<string>();
  for (const rows of Object.values(family))
    for (const { id, transaction_id } of rows)
      for (const each of [id, transaction_id])
        for (const found of String(each).match(ULID) ?? []) own.add(found);
  return own;
}

const shifted = (moment: string, byMs: number) => {
  const at = new Date(Date.parse(moment) + byMs).toISOString();
  return moment.endsWith("Z") ? at : at.replace("Z", "+00:00");
};

/** A ULID of that moment, with random bits of its own. */
const ulidOf = (at: number) => ulidAt(at).slice(0, 10) + ulid().slice(10);

function replaceAll(text: string, by: Map<string, string>): string {
  let replaced = text;
  for (const [from, to] of by) replaced = replaced.replaceAll(from, to);
  return replaced;
}

/** Copies a job to another moment, under ids of its own. */
async function copyOf(family: Family, n: number, at: number): Promise<Family> {
  const first = Date.parse(String(family.job?.[0]?.created_at));
  const own = new Map([...ownUlids(family)].map((each) => [each, ulidOf(at)]));
  const text = JSON.stringify(family)
    .replace(ULID, (found) => own.get(found) ?? found)
    .replace(MOMENT, (moment) => shifted(moment, at - first));
  let copy: Family = JSON.parse(text);
  const hashes = new Map<string, string>();
  for (const row of copy.payload ?? []) {
    const { content, sha256 } = row as { content: string | null; sha256: string };
    const anew = content === null ? sha256 : sha256Hex(content);
    if (anew !== sha256) hashes.set(sha256, anew);
  }
  copy = JSON.parse(replaceAll(JSON.stringify(copy), hashes));
  const [receipt] = copy.receipt ?? [];
  if (receipt) {
    const { body, hash, signature, keyId } = await sealDocument(JSON.parse(String(receipt.body)));
    copy = JSON.parse(replaceAll(JSON.stringify(copy), new Map([[String(receipt.hash), hash]])));
    Object.assign(copy.receipt?.[0] ?? {}, { body, hash, signature, key_id: keyId });
  }
  const [job] = copy.job ?? [];
  Object.assign(job ?? {}, {
    idempotency_key: `${job?.idempotency_key}-${n}`,
    repeat_hash: null,
    waiter: null,
  });
  return copy;
}

async function columnsOf(table: string): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_name = $1 AND table_schema = 'public' AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    [table],
  );
  // The ledger numbers its own rows.
  return rows
    .map(({ name }) => name)
    .filter((name) => table !== "ledger_transaction" || name !== "id")
    .join(", ");
}

/** Writes these jobs and takes their charges from the wallet, in one transaction. */
async function write(families: Family[], columns: Map<string, string>): Promise<void> {
  await inTransaction(async (client) => {
    for (const [table, names] of columns) {
      const rows = families.flatMap((family) => family[table] ?? []);
      if (rows.length > 0)
        await client.query(
          `INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
          [JSON.stringify(rows)],
        );
    }
    await client.query(
      `UPDATE wallet SET balance_micros = balance_micros - charged.micros FROM (
         SELECT organization_id, is_test, sum(settled_micros)::bigint AS micros FROM hold
         WHERE funding = 'wallet' AND state = 'settled' AND execution_id = ANY($1) GROUP BY 1, 2) charged
       WHERE wallet.organization_id = charged.organization_id AND wallet.is_test = charged.is_test`,
      [families.map(({ job }) => job?.[0]?.id)],
    );
  });
}

/** Adds this many copies of the project's ended jobs, spread over the last four weeks. */
export async function copyJobs(projectId: string, copies: number, now: Date): Promise<void> {
  const random = randomFrom(44);
  const templates = await templatesOf(projectId);
  if (templates.length === 0) throw new Error("no job has ended that could be copied");
  const families = await Promise.all(templates.map(readFamily));
  const columns = new Map<string, string>();
  for (const table of Object.keys(TABLES)) columns.set(table, await columnsOf(table));
  for (let done = 0; done < copies; done += BATCH) {
    const made: Family[] = [];
    for (let n = done; n < Math.min(copies, done + BATCH); n++) {
      const family = families[Math.floor(random() * families.length)];
      if (family) made.push(await copyOf(family, n, momentBefore(now.getTime(), random)));
    }
    await write(made, columns);
  }
}
