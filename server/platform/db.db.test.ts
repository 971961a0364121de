import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { applyMigrations } from "@/scripts/migrate/migrations";
import { inTransaction, keepConnection, pool, prisma, type Transaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { HOUR_MS } from "@/server/platform/time/units";

async function makeProject() {
  const organizationId = newId("organization");
  const projectId = newId("project");
  await pool.query("INSERT INTO organization (id, display_name) VALUES ($1, 'Test')", [organizationId]);
  await pool.query(
    "INSERT INTO project (id, organization_id, display_name, slug) VALUES ($1, $2, 'Test', $1)",
    [projectId, organizationId],
  );
  return { organizationId, projectId };
}

async function makeJob(project: { organizationId: string; projectId: string }, status = "queued") {
  const id = newId("job");
  await pool.query(
    `INSERT INTO job (id, project_id, organization_id, environment, principal_id, principal_kind, operation, mode,
       capability_key, status, idempotency_key, request_hash, tags, billing_mode, provider, model, pricing_version, pricing,
       estimated_micros, maximum_micros, queue_seconds, queue_deadline_at, execution_seconds, created_at, completed_at,
       dispatch_state, dispatch_after)
     VALUES ($1, $2, $3, 'development', 'key_1', 'service_principal', 'jobs', 'job_async', 'text.general.fast.v1', $4, $5, 'v1:0',
       '{}', 'managed', 'sandbox', 'sandbox-1', 'p1', '{}', 0, 0, 60, $6, 60, now(), now(), 'pending', now())`,
    [id, project.projectId, project.organizationId, status, randomUUID(), new Date(Date.now() + HOUR_MS)],
  );
  return id;
}

/** Runs `work` on a connection that names one project. */
const asTenant = <T>(projectId: string, work: (client: Transaction) => Promise<T>): Promise<T> =>
  inTransaction(async (client) => {
    await client.query("SELECT set_config('capstan.project_id', $1, true)", [projectId]);
    return work(client);
  });

test("a connection that names a project sees only that project's rows, and cannot write another's", async () => {
  const [mine, other] = [await makeProject(), await makeProject()];
  const [myJob, otherJob] = [await makeJob(mine), await makeJob(other)];
  await asTenant(mine.projectId, async (client) => {
    expect((await client.query("SELECT id FROM job")).rows).toEqual([{ id: myJob }]);
    expect((await client.query("SELECT id FROM job WHERE id = $1", [otherJob])).rows).toEqual([]);
    const changed = await client.query("UPDATE job SET lease_owner = 'me' WHERE id = $1", [otherJob]);
    expect(changed.rowCount).toBe(0);
  });
  await expect(
    asTenant(mine.projectId, (client) =>
      client.query(
        "INSERT INTO event (project_id, job_id, id, type, payload, created_at) VALUES ($1, $2, 1, 'job.queued', '{}', now())",
        [other.projectId, otherJob],
      ),
    ),
  ).rejects.toThrow(/row-level security/);
});

test("a connection names a project until its transaction ends", async () => {
  const project = await makeProject();
  await asTenant(project.projectId, (client) => client.query("SELECT FROM job"));
  const { rows } = await pool.query("SELECT current_setting('capstan.project_id', true) AS setting");
  expect(rows).toEqual([{ setting: "*" }]);
});

test("a connection that names no project sees nothing", async () => {
  await makeJob(await makeProject());
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT set_config('capstan.project_id', '', true)");
    expect((await client.query("SELECT FROM job")).rowCount).toBe(0);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});

test("every table with a project_id forces row-level security, and our role cannot bypass it", async () => {
  const { rows } = await pool.query(
    `SELECT c.relname AS table, c.relrowsecurity AND c.relforcerowsecurity AS forced,
       EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS policy
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
     WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) expect(row).toMatchObject({ forced: true, policy: true });
  const role = await pool.query("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user");
  expect(role.rows).toEqual([{ rolsuper: false, rolbypassrls: false }]);
});

test("a row of history can be neither changed nor deleted", async () => {
  const project = await makeProject();
  const job = await makeJob(project);
  await pool.query(
    "INSERT INTO event (project_id, job_id, id, type, payload, created_at) VALUES ($1, $2, 1, 'job.queued', '{}', now())",
    [project.projectId, job],
  );
  for (const table of [
    "event",
    "receipt",
    "ledger_transaction",
    "retail_quote",
    "audit_entry",
    "payment_event",
  ]) {
    await expect(pool.query(`UPDATE ${table} SET id = id`)).rejects.toThrow(/append-only/);
    await expect(pool.query(`DELETE FROM ${table}`)).rejects.toThrow(/append-only/);
    await expect(pool.query(`TRUNCATE ${table} CASCADE`)).rejects.toThrow(/append-only/);
  }
});

test("a ledger transaction must sum to zero in each currency, with an amount, account and kind in each posting", async () => {
  const post = (...postings: object[]) =>
    pool.query(
      `INSERT INTO ledger_transaction (transaction_id, organization_id, account, postings, created_at)
       VALUES ($1, $1, 'granted', $2, now())`,
      [newId("transaction"), JSON.stringify(postings)],
    );
  const of = (amount_micros: number | null, more: object = {}) => ({
    account: "granted",
    amount_micros,
    kind: "grant",
    ...more,
  });
  await post(of(-3), of(3));
  await post(of(-3), of(3), of(-2, { currency: "EUR" }), of(2, { currency: "EUR" }));
  for (const wrong of [
    [],
    [of(3)],
    [of(-3), of(4)],
    [of(-3), of(3, { currency: "EUR" })],
    [of(-3, { currency: "euro" }), of(3, { currency: "euro" })],
    [of(-3), of(3), of(null)],
    [of(-3), of(3, { account: null })],
    [of(-3), of(3, { kind: null })],
  ])
    await expect(post(...wrong)).rejects.toThrow(/postings_sum_to_zero/);
});

test("a terminal job keeps its status, and an unknown status is refused", async () => {
  const project = await makeProject();
  const job = await makeJob(project, "succeeded");
  await expect(pool.query("UPDATE job SET status = 'running' WHERE id = $1", [job])).rejects.toThrow(
    /already succeeded/,
  );
  await expect(makeJob(project, "finished")).rejects.toThrow(/job_status_known/);
});

test("the events of an admission never change, and their job cannot be deleted", async () => {
  const job = await makeJob(await makeProject());
  for (const text of ["UPDATE job SET admitted_events = '[]' WHERE id = $1", "DELETE FROM job WHERE id = $1"])
    await expect(pool.query(text, [job])).rejects.toThrow(/append-only/);
});

const HOLD_ENDS = [["settled"], ["released"], ["ambiguous", "settled"], ["ambiguous", "released"]];

test("the hold of a pinned execution ends once, and its amount never changes", async () => {
  const project = await makeProject();
  const hold = async () => {
    const id = newId("hold");
    await pool.query(
      `INSERT INTO pinned_hold (id, organization_id, project_id, execution_id, principal_id, billing_mode, is_test, amount_micros, created_at)
       VALUES ($1, $2, $3, $4, 'key', 'byok', true, 5, now())`,
      [id, project.organizationId, project.projectId, newId("pinned")],
    );
    return id;
  };
  const move = (id: string, state: string) =>
    pool.query("UPDATE pinned_hold SET state = $2 WHERE id = $1", [id, state]);
  for (const path of HOLD_ENDS) {
    const id = await hold();
    for (const state of path) await move(id, state);
    for (const state of ["open", "ambiguous", "settled", "released"])
      await expect(move(id, state)).rejects.toThrow(/already/);
  }
  const ambiguous = await hold();
  await move(ambiguous, "ambiguous");
  await expect(move(ambiguous, "open")).rejects.toThrow(/\(ambiguous\).*open again/);
  await expect(
    pool.query("UPDATE pinned_hold SET amount_micros = 6 WHERE id = $1", [ambiguous]),
  ).rejects.toThrow(/only its state/);
  await expect(pool.query("DELETE FROM pinned_hold WHERE id = $1", [ambiguous])).rejects.toThrow(
    /append-only/,
  );
  const { rows: free } = await pool.query(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'pinned_hold'::regclass AND attnum > 0 AND NOT attisdropped
       AND attnum <> ALL((SELECT tgattr FROM pg_trigger WHERE tgname = 'pinned_hold_keeps_what_it_holds')::int2[]) ORDER BY 1`,
  );
  expect(free.map(({ name }) => name)).toEqual([
    "note",
    "resolution",
    "resolved_at",
    "resolved_by",
    "settled_micros",
    "state",
  ]);
});

test("the hold of a job ends once, and its amount never changes", async () => {
  const project = await makeProject();
  const set = (id: string, what: string) => pool.query(`UPDATE job SET ${what} WHERE id = $1`, [id]);
  const held = async () => {
    const id = newId("job");
    await pool.query(
      `INSERT INTO job (id, project_id, organization_id, environment, principal_id, principal_kind, operation, mode, capability_key,
         status, idempotency_key, request_hash, tags, billing_mode, provider, model, pricing_version, pricing, estimated_micros,
         maximum_micros, queue_seconds, queue_deadline_at, execution_seconds, created_at, dispatch_state, dispatch_after, hold_state,
         hold_funding)
       VALUES ($1, $2, $3, 'test', 'key', 'service_principal', 'jobs', 'job_async', 'x', 'queued', $1, 'v1:x', '{}', 'managed', 'sandbox', 'm', 'v',
         '{}', 5, 5, 1, now(), 1, now(), 'none', now(), 'open', 'wallet')`,
      [id, project.projectId, project.organizationId],
    );
    return id;
  };
  for (const path of HOLD_ENDS) {
    const id = await held();
    for (const state of path) await set(id, `hold_state = '${state}'`);
    for (const state of ["open", "ambiguous", "settled", "released"])
      await expect(set(id, `hold_state = '${state}'`)).rejects.toThrow(/already/);
    await expect(set(id, "hold_state = NULL")).rejects.toThrow(/already/);
  }
  const open = await held();
  for (const what of ["maximum_micros = 6", "credential_ids = '{x}'", "principal_id = 'x'", "provider = 'x'"])
    await expect(set(open, what), what).rejects.toThrow(/append-only/);
  await expect(set(open, "hold_funding = NULL")).rejects.toThrow(/only its state/);
  await set(open, "hold_funding = 'allowance'");
  await expect(set(open, "hold_funding = 'wallet'")).rejects.toThrow(/only its state/);
  await set(open, "hold_state = 'ambiguous'");
  await expect(set(open, "hold_state = 'open'")).rejects.toThrow(/\(ambiguous\).*open again/);
});

test("int8 arrives as a number and is never rounded", async () => {
  expect((await pool.query("SELECT 9007199254740991::int8 AS n")).rows).toEqual([{ n: 9007199254740991 }]);
  await expect(pool.query("SELECT 9007199254740992::int8 AS n")).rejects.toThrow(RangeError);
});

test("Prisma connects under the application name of our pools", async () => {
  const [row] = await prisma.$queryRaw<
    { name: string }[]
  >`SELECT current_setting('application_name') AS name`;
  expect(row?.name).toBe("capstan");
});

test("applied migrations are not applied again, and 0001_init is the first", async () => {
  const url = process.env.DATABASE_URL!;
  expect(await applyMigrations(url)).toEqual([]);
  const { rows } = await pool.query("SELECT migration_name, checksum FROM _prisma_migrations");
  const first = await readFile("prisma/migrations/0001_init/migration.sql", "utf8");
  expect(first).toContain("capstan_guard_tenants()");
  expect(rows[0].migration_name).toBe("0001_init");
});

test("no index of pinned holds has a column that the end of a hold changes", async () => {
  const { rows } = await pool.query<{ definition: string }>(
    "SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = 'pinned_hold'::regclass",
  );
  // A BRIN index has no entry for each row, so it does not hinder an update.
  const ofRows = rows.filter(({ definition }) => !definition.includes("USING brin"));
  expect(ofRows.length).toBeGreaterThan(0);
  for (const { definition } of ofRows) expect(definition).not.toMatch(/state|settled|resolved_at/);
});

test("a statement that the database refuses in the ordinary course costs no connection", async () => {
  await pool.query("SELECT 1");
  let opened = 0;
  const count = () => opened++;
  pool.on("connect", count);
  for (let time = 0; time < 20; time++) {
    await expect(keepConnection((client) => client.query("SELECT 1 / $1::int", [0]))).rejects.toThrow(
      /division by zero/,
    );
  }
  const { rows } = await keepConnection((client) => client.query("SELECT 1 AS n"));
  pool.off("connect", count);
  expect(rows).toEqual([{ n: 1 }]);
  expect(opened).toBe(0);
});
