/** @module-tag long */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { releaseAllLeases } from "@/server/domain/executions";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { newId, receiptIdOf } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import type { SandboxSubmission } from "@/server/sandbox/submissions";
import { projectLeasesPass } from "@/testing/leases";
import { runPinKilledAt } from "@/testing/processes";
import { makeProject, type TestProject } from "@/testing/world";
import { beginAttempt, requeuePins } from "./transitions";

const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };
const PAST_LEASE_MS = 60_000;

const idOf = async ({ projectId }: TestProject): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM pinned_execution WHERE project_id = $1", [
    projectId,
  ]);
  expect(rows).toHaveLength(1);
  return rows[0]?.id ?? "";
};

/** The number of submissions of this execution in the sandbox's own log. */
async function submissionsOf(pinnedId: string): Promise<number> {
  const log = await readFile(join(env.CAPSTAN_DATA_DIR, "sandbox", "submissions.ndjson"), "utf8");
  const lines: SandboxSubmission[] = log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return lines.filter(({ attemptId }) => attemptId === pinnedId).length;
}

const request = (world: TestProject, key = "k") => ({
  pin: PIN,
  input: "How deep is the sea?",
  context: { projectId: world.projectId },
  idempotencyKey: key,
});

async function killedAt(point: Parameters<typeof runPinKilledAt>[1]) {
  const world = await makeProject();
  expect(await runPinKilledAt(request(world), point)).toBe("SIGKILL");
  const id = await idOf(world);
  await pins.sweep(world.ctx, world); // the lease has not ended yet
  expect((await statusOf(id)).status).toBe("running");
  await world.pass(PAST_LEASE_MS);
  await pins.sweep(world.ctx, world);
  return { world, id, record: await pins.get(world.ctx, receiptIdOf(id)) };
}

const statusOf = async (id: string) =>
  (await pool.query("SELECT status, fence FROM pinned_execution WHERE id = $1", [id])).rows[0];
const holdOf = async (id: string) =>
  (await pool.query("SELECT state FROM hold WHERE execution_id = $1", [id])).rows[0]?.state;

test("an execution killed between attempt and answer ends as ambiguous, keeps its hold, and is never sent again", async () => {
  for (const [point, arrived] of [
    ["after-submission-begun", 0],
    ["after-answer", 1],
    ["before-receipt", 1],
  ] as const) {
    const { world, id, record } = await killedAt(point);
    expect(record).toMatchObject({
      status: "ambiguous",
      error: { code: "TRANSPORT_AMBIGUOUS" },
      providerSubmission: "ambiguous",
      providerSubmissions: 1,
      safelyRetryable: false,
      holdState: "ambiguous",
      cost: null,
      costStatus: "unknown",
      providerExecutionMs: null,
      sentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await holdOf(id)).toBe("ambiguous");
    const again = await pins.run(world.ctx, request(world)).catch((error) => error);
    expect(again).toMatchObject({ code: "TRANSPORT_AMBIGUOUS", details: { executionId: id } });
    expect(await submissionsOf(id)).toBe(arrived);
  }
});

test("an execution killed before its submission began is free, and its request can run under another key", async () => {
  const { world, id, record } = await killedAt("after-admission");
  expect(record).toMatchObject({
    status: "failed",
    error: { code: "ProviderUnavailable" },
    providerSubmission: "not_attempted",
    providerSubmissions: 0,
    attempts: [],
    sentHash: null,
    processingTier: null,
    safelyRetryable: true,
    holdState: "released",
    costStatus: "none",
  });
  expect(await holdOf(id)).toBe("released");
  expect(await submissionsOf(id)).toBe(0);
  expect((await pins.run(world.ctx, request(world, "another"))).status).toBe("succeeded");
});

test("a process that lost the lease writes no end, and its answer is stored as a signed correction", async () => {
  const world = await makeProject();
  const slow = { ...request(world), pin: { ...PIN, model: "sandbox-slow" } };
  const running = pins.run(world.ctx, slow).catch((error) => error);
  let id = "";
  while (!id) {
    const { rows } = await pool.query("SELECT pinned_id FROM pinned_attempt WHERE project_id = $1", [
      world.projectId,
    ]);
    id = rows[0]?.pinned_id ?? "";
  }
  // Another process sweeps after the lease has ended.
  await projectLeasesPass(world.projectId, PAST_LEASE_MS);
  await pins.sweep(world.ctx, world);
  const sealed = await pins.get(world.ctx, receiptIdOf(id));
  expect(sealed).toMatchObject({ status: "ambiguous", corrections: [] });
  expect(await running).toMatchObject({ code: "TRANSPORT_AMBIGUOUS", details: { executionId: id } });
  const { corrections, ...record } = await pins.get(world.ctx, receiptIdOf(id));
  expect(record).toEqual({ ...sealed, corrections: undefined });
  expect(corrections).toMatchObject([
    {
      kind: "late_answer",
      receiptId: receiptIdOf(id),
      details: {
        status: "succeeded",
        httpStatus: 200,
        outputHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        usage: { inputTokens: expect.any(Number) },
        providerModel: "sandbox-slow",
      },
      signature: { alg: "EdDSA" },
    },
  ]);
  expect(JSON.stringify(corrections)).not.toContain("(sandbox)"); // every text of the sandbox ends with this
  expect(await submissionsOf(id)).toBe(1);
});

test("a shutdown ends a sent execution as ambiguous at once", async () => {
  const world = await makeProject();
  const slow = { ...request(world), pin: { ...PIN, model: "sandbox-slow" } };
  const running = pins.run(world.ctx, slow).catch((error) => error);
  for (let sent = 0; sent === 0; )
    sent =
      (await pool.query("SELECT FROM pinned_attempt WHERE project_id = $1", [world.projectId])).rowCount ?? 0;
  await new Promise((resolve) => setTimeout(resolve, 100)); // the request is under way
  await releaseAllLeases(0);
  expect(await running).toMatchObject({ code: "TRANSPORT_AMBIGUOUS", details: { safelyRetryable: false } });
  expect((await pins.get(world.ctx, receiptIdOf(await idOf(world)))).status).toBe("ambiguous");
});

test("only one of several concurrent attempts to begin a submission may send", async () => {
  const world = await makeProject();
  expect(await runPinKilledAt(request(world), "after-admission")).toBe("SIGKILL");
  const id = await idOf(world);
  const begin = (fence: number, number = 1) =>
    beginAttempt({
      pinnedId: id,
      fence,
      attemptId: newId("attempt"),
      number,
      sentHash: "0".repeat(64),
      now: world.ctx.now(),
    });
  const begun = await Promise.all([begin(1), begin(1), begin(1), begin(2), begin(0)]);
  expect(begun.filter(Boolean)).toHaveLength(1);
  await world.pass(PAST_LEASE_MS);
  await pins.sweep(world.ctx, world);
  expect(await begin(1, 2)).toBe(false);
  expect(await begin(2, 2)).toBe(false); // it has ended
});

test("an execution with an open submission does not go back to the queue", async () => {
  const world = await makeProject();
  expect(await runPinKilledAt(request(world), "after-submission-begun")).toBe("SIGKILL");
  const id = await idOf(world);
  expect(await requeuePins([{ id, fence: 1 }])).toEqual([]);
  expect((await statusOf(id)).status).toBe("running");
});

// ---- ended executions do not change

test("no column of an ended execution can be changed, and none of its rows can be removed", async () => {
  const world = await makeProject();
  const { executionId } = await pins.run(world.ctx, request(world));
  await pool.query(
    `INSERT INTO pinned_correction (id, project_id, pinned_id, kind, details, signature, key_id, created_by, created_at)
     VALUES ($1, $2, $3, 'late_answer', '{}', 's', 'k', 'test', now())`,
    [newId("correction"), world.projectId, executionId],
  );
  const tables = {
    pinned_execution: "id",
    pinned_attempt: "pinned_id",
    pinned_record: "pinned_id",
    pinned_correction: "pinned_id",
  };
  for (const [table, key] of Object.entries(tables)) {
    const before = (await pool.query(`SELECT * FROM ${table} WHERE ${key} = $1`, [executionId])).rows;
    expect(before).toHaveLength(1);
    const { rows: columns } = await pool.query<{ column_name: string }>(
      "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1",
      [table],
    );
    expect(columns.length).toBeGreaterThanOrEqual(8);
    for (const { column_name } of columns) {
      // Any SQL could do this; writing the same value counts as a change too.
      await expect(
        pool.query(`UPDATE ${table} SET "${column_name}" = "${column_name}" WHERE ${key} = $1`, [
          executionId,
        ]),
        `${table}.${column_name}`,
      ).rejects.toMatchObject({ code: "23000" });
    }
    await expect(pool.query(`DELETE FROM ${table} WHERE ${key} = $1`, [executionId])).rejects.toMatchObject({
      code: "23000",
    });
    await expect(pool.query(`TRUNCATE ${table} CASCADE`)).rejects.toMatchObject({ code: "23000" });
    expect((await pool.query(`SELECT * FROM ${table} WHERE ${key} = $1`, [executionId])).rows).toEqual(
      before,
    );
  }
});
