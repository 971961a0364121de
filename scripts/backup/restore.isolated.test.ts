import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OutgoingEvent } from "@/inngest/client";
import { enqueue } from "@/inngest/embedded/enqueue";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { PROGRAMS } from "@/testing/setup/programs";
import { type Postgres, startPostgres } from "../launch/postgres";
import { type BackedUp, backUp } from "./back-up";
import { command, NOTHING, openWorld, type World } from "./original.fixture";

let world: World;
let backedUp: BackedUp;
let postgres: Postgres | undefined;
const children: ChildProcess[] = [];

beforeAll(async () => {
  world = await openWorld();
  backedUp = await backUp({ to: world.at("backup"), withArtifacts: true });
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await postgres?.stop();
  await world.close();
});

test("an installation restored beside the original sends nothing until each kind is released", async () => {
  const dataDir = world.at("restored");
  const restored = await command("restore", ["--from", world.at("backup")], world.settingsOf("restored"));
  expect(restored).toMatchObject({ code: 0, error: "" });
  expect(restored.out).toMatch(/^balances +agree$/m);
  expect(restored.out).toMatch(/^held +2 jobs, 5 bulks, /m);

  postgres = await startPostgres({ dataDir, logFile: join(dataDir, "postgres.log"), disposable: true });
  const settings = world.settingsOf("restored", { DATABASE_URL: postgres.url });
  const database = new pg.Pool({
    connectionString: postgres.url,
    options: "-c capstan.project_id=*",
    max: 2,
  });
  try {
    const { tables } = backedUp.manifest;
    for (const table of tables.filter(({ name }) => !["restore_hold", "audit_entry"].includes(name))) {
      const { rows } = await database.query(`SELECT count(*)::int AS count FROM "${table.name}"`);
      expect([table.name, rows[0].count]).toEqual([table.name, table.rows]);
    }
    await age(database);
    const stateOf = () => snapshotOfWork(database);
    const before = await stateOf();
    startWorker(settings);
    await passesOf(database, 2);
    // Wakes that no sweeper sent: from a person's decision, or from an Inngest server.
    await enqueue(await staleWakes(database), database);
    await vi.waitFor(async () => expect(await waitingRuns(database)).toBe(0), { timeout: 30_000 });
    await passesOf(database, 1);
    expect(await world.reached()).toEqual(NOTHING);
    expect(await stateOf()).toEqual(before);

    const release = async (...args: string[]) =>
      JSON.parse((await command("admin", ["restore", "release", ...args, "--json"], settings)).out).items;
    const held = await release();
    expect(
      held.map(({ kind, unfinished }: { kind: string; unfinished: number }) => [kind, unfinished]),
    ).toEqual([
      ["jobs", 2],
      ["bulks", 5],
      ["deliveries", expect.any(Number)],
      ["mails", expect.any(Number)],
      ["refunds", 1],
    ]);
    expect(await world.reached()).toEqual(NOTHING);
    await release("--kind", "refunds");
    await vi.waitFor(async () => expect(await world.reached()).toEqual({ ...NOTHING, refunds: 1 }), {
      timeout: 30_000,
    });
    await release("--kind", "all");
    await vi.waitFor(
      async () => {
        const { submissions, deliveries, mails } = await world.reached();
        expect({ submissions, hasDelivered: deliveries > 0, hasMailed: mails > 0 }).toEqual({
          submissions: 7, // two jobs and five items
          hasDelivered: true,
          hasMailed: true,
        });
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(await release()).toEqual([]);
  } finally {
    await database.end();
  }
}, 300_000);

function startWorker(settings: NodeJS.ProcessEnv): void {
  const child = spawn(process.execPath, [join(PROGRAMS, "worker-process.mjs")], {
    env: settings,
    stdio: ["ignore", "inherit", "inherit"],
  });
  children.push(child);
}

/** Moves leases and dispatch times an hour back, so that the sweepers would take over all work of the original. */
async function age(database: pg.Pool): Promise<void> {
  const earlier = (column: string) => `${column} = ${column} - interval '1 hour'`;
  for (const table of ["job", "pinned_bulk", "delivery", "mail", "payment_refund"])
    await database.query(`UPDATE ${table} SET ${earlier("lease_until")} WHERE lease_until IS NOT NULL`);
  await database.query(`UPDATE job SET ${earlier("dispatch_after")} WHERE dispatch_after IS NOT NULL`);
}

/** State that must not change while work is held. */
async function snapshotOfWork(database: pg.Pool) {
  const texts = [
    "SELECT id, status, fence, last_event, webhook_event, dispatch_number FROM job ORDER BY id",
    "SELECT id, status, fence FROM pinned_execution ORDER BY id",
    "SELECT id, status, dispatch_number FROM pinned_bulk ORDER BY id",
    "SELECT id, state, attempts FROM delivery ORDER BY id",
    "SELECT id, state, attempts FROM mail ORDER BY id",
    "SELECT id, state, attempts FROM payment_refund ORDER BY id",
  ];
  const found = [];
  for (const text of texts) found.push((await database.query(text)).rows);
  return found;
}

/** Waits until every task that sends or sweeps has begun and ended this many times from now on. */
async function passesOf(database: pg.Pool, passes: number): Promise<void> {
  const tasks = ["announce", "sweep-jobs", "sweep-pins", "sweep-requests", "send-mail"];
  // The first passes after a stop are late and take over no one's work; these must be like all later ones.
  await database.query("UPDATE periodic_task SET late_at = NULL");
  for (let pass = 0; pass < passes; pass++) {
    const { rows } = await database.query<{ now: Date }>("SELECT clock_timestamp() AS now");
    await vi.waitFor(
      async () => {
        const { rowCount } = await database.query(
          "SELECT FROM periodic_task WHERE name = ANY($1) AND started_at > $2 AND ended_at >= started_at AND outcome = 'succeeded'",
          [tasks, rows[0]?.now],
        );
        expect(rowCount).toBe(tasks.length);
      },
      { timeout: 60_000, interval: 200 },
    );
  }
}

async function staleWakes(database: pg.Pool): Promise<OutgoingEvent[]> {
  const { rows: due } = await database.query<{ id: string; endpoint_id: string }>(
    "SELECT id, endpoint_id FROM delivery WHERE state = 'pending'",
  );
  const { rows: mails } = await database.query<{ id: string }>("SELECT id FROM mail WHERE state = 'pending'");
  expect([due.length > 0, mails.length > 0]).toEqual([true, true]);
  const { projectId } = world.original;
  return [
    ...[world.original.queued, world.original.claimed].map((jobId) => ({
      name: "job/admitted",
      data: { jobId, projectId },
    })),
    { name: "bulk/accepted", data: { bulkId: world.original.bulk, projectId } },
    ...due.map(({ id, endpoint_id }) => ({
      name: "delivery/due",
      data: { deliveryId: id, endpointId: endpoint_id },
    })),
    ...mails.map(({ id }) => ({ name: "mail/due", data: { mailId: id } })),
    { name: "refund/due", data: { refundId: world.original.refundId } },
  ];
}

async function waitingRuns(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    "SELECT ((SELECT count(*) FROM run_slot) + (SELECT count(*) FROM graphile_worker.jobs))::int AS count",
  );
  return rows[0]?.count ?? 0;
}

test("a restore into an installation that is used, or without its vault key, is refused and says what to do", async () => {
  const used = await command(
    "restore",
    ["--from", world.at("backup")],
    world.settingsOf("none", { DATABASE_URL: env.DATABASE_URL }),
  );
  expect(used).toMatchObject({
    code: 2,
    out: "",
    error: expect.stringMatching(/^DATABASE_URL: the database is not empty\. Create/),
  });
  const keyless = await command(
    "restore",
    ["--from", world.at("backup")],
    world.settingsOf("none", { CAPSTAN_VAULT_KEY: "" }),
  );
  expect(keyless).toMatchObject({
    code: 2,
    error: expect.stringMatching(/^CAPSTAN_VAULT_KEY is not set\. Set/),
  });
});

/** Makes an empty database on the server of this run. */
async function emptyDatabase(): Promise<string> {
  const name = `restored_${randomUUID().replaceAll("-", "")}`;
  await pool.query(`CREATE DATABASE ${name}`);
  return Object.assign(new URL(env.DATABASE_URL ?? ""), { pathname: `/${name}` }).href;
}

test("a changed artifact is refused and leaves the database empty, so that a good copy can be restored into it", {
  tags: "long",
}, async () => {
  const bad = world.at("bad");
  cpSync(world.at("backup"), bad, { recursive: true });
  const { sha256 } = world.original;
  const path = join(bad, "artifacts", sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  writeFileSync(path, readFileSync(path).fill("x"));
  const settings = world.settingsOf("own", { DATABASE_URL: await emptyDatabase() });
  const refused = await command("restore", ["--from", bad], settings);
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.error).toMatch(
    /^--from: 1 of the files in .* are missing or were changed, the first of them/,
  );
  const restored = await command("restore", ["--from", world.at("backup")], settings);
  expect(restored).toMatchObject({ code: 0, error: "" });
  expect(await command("restore", ["--check"], settings)).toMatchObject({ code: 0, error: "" });
});
