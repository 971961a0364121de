import { randomUUID } from "node:crypto";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { DEFAULT_SCOPES, systemCtx } from "@/server/domain/ctx";
import { claimForRun } from "@/server/domain/jobs/running/run";
import { pool, type Queryable } from "@/server/platform/db";
import type { Step } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { projectLeasesPass } from "./leases";

/** A clock that a test moves by hand. */
export function testClock() {
  let offsetMs = 0;
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance: (ms: number) => {
      offsetMs += ms;
    },
  };
}

export type TestProject = {
  organizationId: string;
  projectId: string;
  /** A key bound to the project. */
  ctx: Ctx;
  clock: ReturnType<typeof testClock>;
  /** Lets this much time pass, also for the leases of the project's rows, which end by the database's clock. */
  pass(ms: number): Promise<void>;
};

/** Gives an organization live and test wallets with this balance and no allowance. */
export async function fund(organizationId: string, walletMicros: number) {
  await pool.query(
    "INSERT INTO wallet (organization_id, is_test, balance_micros, created_at) SELECT $1, test, $2, now() FROM unnest(ARRAY[false, true]) AS test",
    [organizationId, walletMicros],
  );
}

/** A new organization with one project and a bound key, with funds and no allowance. */
export async function makeProject({ walletMicros = 1_000_000_000 } = {}): Promise<TestProject> {
  const organizationId = newId("organization");
  const projectId = newId("project");
  await pool.query("INSERT INTO organization (id, display_name) VALUES ($1, 'Test')", [organizationId]);
  await fund(organizationId, walletMicros);
  await pool.query(
    "INSERT INTO project (id, organization_id, display_name, slug) VALUES ($1, $2, 'Test', 'test')",
    [projectId, organizationId],
  );
  await pool.query(
    "INSERT INTO environment (id, project_id, slug, display_name) VALUES ($1, $2, 'development', 'Development')",
    [newId("environment"), projectId],
  );
  const clock = testClock();
  const ctx: Ctx = {
    ...systemCtx("test", clock.now),
    principal: {
      kind: "service_principal",
      id: newId("key"),
      organizationId,
      projectId,
      environment: "development",
      scopes: new Set<Scope>(DEFAULT_SCOPES),
      userId: null,
    },
  };
  const pass = (ms: number) => {
    clock.advance(ms);
    return projectLeasesPass(projectId, ms);
  };
  return { organizationId, projectId, ctx, clock, pass };
}

/** A project whose clock is far from the end of any day or month, for tests that count by them. */
export async function makeProjectAtNoon(): Promise<TestProject> {
  const project = await makeProject();
  const now = project.clock.now();
  project.clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 15, 12) - now.getTime());
  return project;
}

/** Runs a flow's steps at once; sleeps move the clock. */
export function inlineStep(clock: TestProject["clock"]): Step {
  return {
    runId: randomUUID(),
    run: (_id, work) => work(),
    sleep: async (_id, ms) => clock.advance(ms),
  };
}

/** Claims a job as a run does, and stops there. */
export async function startJob(ctx: Ctx, jobId: string, runId: string = randomUUID()) {
  return (await claimForRun(ctx, jobId, runId))?.started ?? null;
}

/** Copies a job's row this many times, each with its own id and key; `set` gives SQL expressions for further columns. */
export async function copyJob(
  jobId: string,
  copies: number,
  set: Record<string, string> = {},
  db: Queryable = pool,
): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'job' AND is_generated = 'NEVER'",
  );
  const own: Record<string, string> = {
    id: "left(id, -6) || lpad(n::text, 6, '0')",
    idempotency_key: "idempotency_key || n",
    ...set,
  };
  await db.query(
    `INSERT INTO job (${rows.map(({ name }) => name).join(", ")})
     SELECT ${rows.map(({ name }) => own[name] ?? name).join(", ")} FROM job, generate_series(1, ${copies}) AS n WHERE id = $1`,
    [jobId],
  );
}

/** The rows of a job. */
export async function rowsOf(jobId: string) {
  const [job, attempt, hold, events, receipts, ledger] = await Promise.all([
    pool.query("SELECT * FROM job WHERE id = $1", [jobId]),
    pool.query("SELECT * FROM attempt WHERE job_id = $1", [jobId]),
    pool.query("SELECT * FROM hold WHERE execution_id = $1", [jobId]),
    pool.query<{ id: number; type: string }>("SELECT id, type FROM job_event WHERE job_id = $1 ORDER BY id", [
      jobId,
    ]),
    pool.query("SELECT * FROM receipt WHERE job_id = $1", [jobId]),
    pool.query<{ amount_micros: number; kind: string }>(
      "SELECT * FROM ledger_entry WHERE job_id = $1 ORDER BY id",
      [jobId],
    ),
  ]);
  return {
    job: job.rows[0],
    attempts: attempt.rows,
    hold: hold.rows[0],
    events: events.rows,
    receipts: receipts.rows,
    ledger: ledger.rows,
  };
}
