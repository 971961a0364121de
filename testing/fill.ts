import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

/*
 * Makes a database large by copies of the product's own ended executions: each row of a template is written again with another
 * ULID and another time, so that copies have the shapes that the product wrote. Their receipts do not verify, because hash and
 * signature are the template's. Foreign keys and triggers do not run. Only for a database that may be thrown away.
 */

/** SQL that puts the copy's ULID in the place of the template's, in ids that contain it. */
const renamed = (value: string) => `replace(${value}, m.template, m.ulid)`;
/** SQL of a new id for a row whose id does not contain the ULID of its execution. */
const own = (value: string) =>
  `left(${value}, -26) || left(m.ulid, 10) || substr(md5(m.ulid || ${value}), 1, 16)`;
const idOf = (value: string) =>
  `CASE WHEN strpos(${value}, m.template) > 0 THEN ${renamed(value)} ELSE ${own(value)} END`;

/** Columns whose values must not be those of the template, as SQL. */
const ALWAYS: Record<string, string> = {
  repeat_hash: "NULL",
  waiter: "NULL",
  waiter_process: "NULL",
  lease_owner: "NULL",
  lease_until: "NULL",
};

type Copy = { table: string; of: string; set?: Record<string, string>; from?: string };

const EXECUTION: Copy[] = [
  { table: "job", of: "id", set: { idempotency_key: "r.idempotency_key || m.n" } },
  { table: "attempt", of: "job_id" },
  { table: "event", of: "job_id", set: { id: "r.id" } },
  { table: "payload", of: "job_id" },
  { table: "receipt", of: "job_id" },
  { table: "ledger_transaction", of: "job_id", set: { id: "DEFAULT" } },
  {
    table: "artifact",
    of: "made_by",
    from: "SELECT artifact.*, job_id AS made_by FROM artifact JOIN job_artifact ON artifact_id = artifact.id",
  },
  { table: "job_artifact", of: "job_id" },
  {
    table: "delivery",
    of: "job_id",
    set: { event_id: "'evt_' || m.ulid || '_' || r.event_id" },
    from: "SELECT DISTINCT ON (job_id) * FROM delivery ORDER BY job_id, id",
  },
];
const PIN: Copy[] = [
  {
    table: "pinned_execution",
    of: "id",
    set: { idempotency_key: "r.idempotency_key || m.n", bulk_id: "NULL", position: "NULL", item_id: "NULL" },
  },
  { table: "pinned_attempt", of: "pinned_id" },
  { table: "pinned_record", of: "pinned_id" },
  { table: "pinned_hold", of: "execution_id" },
];

/**
 * The templates: ended jobs with an attempt and a plain charge, outside retries and comparisons, and ended pins with a record.
 */
const JOBS = `SELECT id FROM job WHERE project_id = $1 AND completed_at IS NOT NULL AND comparison_id IS NULL AND retry_of IS NULL
  AND hold_state IS DISTINCT FROM 'ambiguous' AND hold_funding IS DISTINCT FROM 'allowance'
  AND EXISTS (SELECT FROM attempt WHERE job_id = job.id)`;
const PINS = `SELECT id FROM pinned_execution WHERE project_id = $1 AND completed_at IS NOT NULL AND plan IS NOT NULL
  AND EXISTS (SELECT FROM pinned_record record WHERE record.pinned_id = pinned_execution.id)`;

export type Filling = {
  projectId: string;
  organizationId: string;
  /** A third of all copies belong to this second tenant, so that a list that reads the rows of other tenants is noticed. */
  other: { projectId: string; organizationId: string };
  userId: string;
  /** Numbers of the first and the last copy. Times rise with the numbers: 0 is 400 days ago, and `total` is now. */
  from: number;
  to: number;
  total: number;
};

/** Fills the database of this test with copies of executions, audit entries and notifications. */
export async function fill(filling: Filling): Promise<void> {
  const client = await asSuperuser();
  try {
    await client.query("SET session_replication_role = replica; SET synchronous_commit = off");
    await mapped(client, "wfr_", JOBS, filling, 1);
    for (const each of EXECUTION) await copy(client, each);
    await mapped(client, "pin_", PINS, filling, 5);
    for (const each of PIN) await copy(client, each);
    await cancelSome(client, filling);
    await copyEntries(client, filling);
    await client.query("VACUUM (ANALYZE)");
  } finally {
    await client.end();
  }
}

async function asSuperuser(): Promise<pg.Client> {
  const password = await readFile(join(process.env.CAPSTAN_DATA_DIR ?? "", "postgres.password"), "utf8");
  const url = new URL(process.env.DATABASE_URL ?? "");
  const client = new pg.Client({
    host: url.hostname,
    port: Number(url.port),
    database: url.pathname.slice(1),
    user: "postgres",
    password: password.trim(),
  });
  await client.connect();
  return client;
}

const at = (n: string) => `now() - interval '400 days' * (1 - ${n}::float8 / $2)`;

/** Makes the table `m`: for each copy its number, its ULID, the shift of its times, and the template whose rows it copies. */
async function mapped(
  client: pg.Client,
  prefix: string,
  templates: string,
  { projectId, organizationId, other, from, to, total }: Filling,
  every: number,
): Promise<void> {
  await client.query("DROP TABLE IF EXISTS m");
  await client.query(
    "CREATE TEMP TABLE m (n int, template text, ulid text, later interval, is_other boolean, own text, other_project text, other text)",
  );
  const { rowCount } = await client.query(
    `WITH template AS MATERIALIZED (
       SELECT right(id, 26) AS ulid, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS many FROM (${templates}) found)
     INSERT INTO m SELECT n, template.ulid, right(capstan_event_id(${at("n")}, n % 1024), 26),
       ${at("n")} - (SELECT created_at FROM ${prefix === "pin_" ? "pinned_execution" : "job"} WHERE id = '${prefix}' || template.ulid),
       (n / ${every}) % 3 = 0, $5, $6, $7
     FROM generate_series($3::int, $4::int, ${every}) n JOIN template ON template.place = (n / ${every}) % template.many`,
    [projectId, total, from, to, organizationId, other.projectId, other.organizationId],
  );
  if (rowCount === 0) throw new Error(`there is no execution ${prefix}… that copies could be made of`);
}

/** Copies the rows of one table that belong to the templates. */
async function copy(
  client: pg.Client,
  { table, of, set = {}, from = `SELECT * FROM ${table}` }: Copy,
): Promise<void> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_name = $1 AND table_schema = 'public' AND is_generated = 'NEVER'`,
    [table],
  );
  const columns = rows.filter(({ name }) => set[name] !== "DEFAULT");
  const prefix =
    { job: "wfr_", pinned_execution: "pin_" }[table] ??
    (PIN.some((pin) => pin.table === table) ? "pin_" : "wfr_");
  await client.query(
    `INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`).join(", ")})
     SELECT ${columns.map(({ name, type }) => set[name] ?? ALWAYS[name] ?? copiedOf(`r."${name}"`, name, type)).join(", ")}
     FROM m JOIN (${from}) r ON r.${of} = '${prefix}' || m.template ORDER BY m.n`,
  );
}

function copiedOf(value: string, name: string, type: string): string {
  if (name === "project_id") return `CASE WHEN m.is_other THEN m.other_project ELSE ${value} END`;
  if (name === "organization_id") return `CASE WHEN m.is_other THEN m.other ELSE ${value} END`;
  if (name === "account")
    return `CASE WHEN m.is_other THEN replace(${value}, m.own, m.other) ELSE ${value} END`;
  if (name === "principal_id")
    return `CASE WHEN m.is_other THEN 'key_' || right(m.other_project, 26) ELSE ${value} END`;
  if (type === "timestamp with time zone") return `${value} + m.later`;
  if (["id", "transaction_id", "artifact_id", "selected_artifact_id"].includes(name)) return idOf(value);
  if (type === "text" && /_id$/.test(name) && !/^(project|organization|principal|endpoint)_id$/.test(name))
    return renamed(value);
  return value;
}

/** Changes a quarter of the project's copied pins to ones that were canceled before they ran, which have no record. */
async function cancelSome(client: pg.Client, { projectId }: Filling): Promise<void> {
  const canceled =
    "SELECT id FROM pinned_execution WHERE project_id = $1 AND id IN (SELECT 'pin_' || ulid FROM m WHERE n % 4 = 0)";
  await client.query(`DELETE FROM pinned_record WHERE pinned_id IN (${canceled})`, [projectId]);
  await client.query(
    `UPDATE pinned_execution SET receipt_id = NULL, status = 'canceled' WHERE id IN (${canceled})`,
    [projectId],
  );
}

/** Writes an audit entry for each number, and for every fifth number a notification, unread if the number is a multiple of 50. */
async function copyEntries(
  client: pg.Client,
  { organizationId, other, userId, from, to, total }: Filling,
): Promise<void> {
  await client.query(
    `INSERT INTO audit_entry (id, organization_id, project_id, actor_id, actor_kind, action, subject, details, created_at)
     SELECT 'aud_' || right(capstan_event_id(${at("n")}, n % 1024), 26), CASE WHEN n % 3 = 0 THEN $5 ELSE $1 END, e.project_id, e.actor_id, e.actor_kind, e.action, e.subject,
       e.details, ${at("n")}
     FROM generate_series($3::int, $4::int) n JOIN (
       SELECT *, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS many FROM audit_entry WHERE organization_id = $1
     ) e ON e.place = n % e.many`,
    [organizationId, total, from, to, other.organizationId],
  );
  await client.query(
    `INSERT INTO notification (id, user_id, organization_id, occasion, kind, title, body, href, created_at, read_at)
     SELECT 'ntf_' || right(capstan_event_id(${at("n")}, n % 1024), 26), $5, $1, 'filled ' || n, e.kind, e.title, e.body, e.href,
       ${at("n")}, CASE WHEN n % 50 > 0 THEN ${at("n")} END
     FROM generate_series($3::int, $4::int, 5) n CROSS JOIN (SELECT * FROM notification ORDER BY id LIMIT 1) e`,
    [organizationId, total, from, to, userId],
  );
}
