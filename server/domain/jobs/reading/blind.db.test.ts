import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";
import { SHOWN_OF_EVENTS } from "./blind";
import { compareDrawings } from "./blind.fixture";

/** Runs a job after some time has passed, so that its times differ from those of other jobs. */
async function run({ ctx, clock }: TestProject, jobId: string) {
  clock.advance(90_000);
  await jobs.run(ctx, jobId, inlineStep(clock));
}

/** Reveals the jobs of a comparison as its judgement does. */
const reveal = (comparisonId: string) =>
  pool.query("UPDATE job SET is_blind = false WHERE comparison_id = $1", [comparisonId]);

const faultOf = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    (cause) => ({ code: cause.code, details: cause.details }),
  );

test("a blind job shows its work but not its maker, cost or times, and a judged one shows everything", async () => {
  const world = await makeProject();
  const { ctx } = world;
  const { comparisonId, jobIds } = await compareDrawings(world);
  for (const jobId of jobIds) await run(world, jobId);
  const created = (await pool.query("SELECT created_at FROM job WHERE id = $1", [jobIds[1]])).rows[0]
    .created_at;
  const blind = await jobs.get(ctx, jobIds[1]!);
  expect(blind).toMatchObject({
    status: "succeeded",
    createdAt: created.toISOString(),
    startedAt: null,
    completedAt: null,
    estimatedCost: null,
    actualCost: null,
    processing: null,
    pricing: null,
    progress: null,
    diagnostics: null,
    idempotencyKey: comparisonId,
    warnings: [],
    retry: { sameKey: false, newKeySafe: false },
    artifacts: [{ mediaType: "image/png", filename: "image-1.png", label: null }],
    typedOutput: { images: [{ variantIndex: 0, mediaType: "image/png", filename: "image-1.png" }] },
    requestSnapshot: { input: { prompt: "A kite" } },
  });
  expect(JSON.stringify(blind)).not.toMatch(/sandbox|execution/);
  const { artifactId } = blind.artifacts[0]!;
  const references = async () => (await jobs.references(ctx, world.projectId, { limit: 50 })).items;
  expect(await references()).toEqual([]);
  for (const page of [
    await jobs.mine(ctx, { limit: 25 }),
    await jobs.history(ctx, world.projectId, { limit: 25 }),
  ]) {
    expect(page.items).toHaveLength(2);
    for (const item of page.items) expect(item).toMatchObject({ completedAt: null, actualCost: null });
  }

  await reveal(comparisonId);
  const shown = await jobs.get(ctx, jobIds[1]!);
  expect(shown.diagnostics?.backendId).toMatch(/^sandbox\//);
  expect(shown).toMatchObject({
    artifacts: [{ artifactId, filename: "image-1.png" }],
    actualCost: expect.any(Number),
  });
  expect((await references()).map((each) => each.artifactId)).toContain(artifactId);
});

test("a blind job is not found by its key, which would reveal its entry, and a judged one is", async () => {
  const world = await makeProject();
  const { comparisonId, jobIds } = await compareDrawings(world);
  const { rows } = await pool.query("SELECT idempotency_key FROM job WHERE id = $1", [jobIds[0]]);
  const [{ idempotency_key: idempotencyKey }] = rows;
  const found = async () =>
    (await jobs.mine(world.ctx, { limit: 25, idempotencyKey })).items.map(({ jobId }) => jobId);
  expect(await found()).toEqual([]);
  await reveal(comparisonId);
  expect(await found()).toEqual([jobIds[0]]);
});

test("the receipt and a retry of a blind job are refused with its comparison", async () => {
  const world = await makeProject();
  const { comparisonId, jobIds } = await compareDrawings(world);
  await run(world, jobIds[0]!);
  const refused = { code: "ComparisonUnjudged", details: { comparisonId } };
  for (const jobId of jobIds) {
    expect(await faultOf(jobs.receipt(world.ctx, jobId))).toEqual(refused);
    expect(await faultOf(jobs.retry(world.ctx, jobId))).toEqual(refused);
    expect((await jobs.rights(world.ctx, jobId)).retry).toBe(false);
  }
  await reveal(comparisonId);
  expect(await jobs.receipt(world.ctx, jobIds[0]!)).toMatchObject({ jobId: jobIds[0], status: "succeeded" });
});

test("a blind request omits the fields that competitors vary, its hash and its constraints", async () => {
  const world = await makeProject();
  const { comparisonId, jobIds } = await compareDrawings(world, {
    models: ["sandbox-1", "sandbox-1"],
    input: { prompt: "A kite", variantCount: 1 },
    varied: [{ prompt: "A red kite" }, { quality: "low" }],
  });
  for (const jobId of jobIds) {
    const asked = await jobs.request(world.ctx, jobId);
    expect(asked).toMatchObject({
      idempotencyKey: comparisonId,
      requestHash: null,
      sha256: null,
      contentState: "available",
      request: { capability: "image.generate.v1", input: { variantCount: 1 } },
    });
    expect(JSON.stringify(asked)).not.toMatch(/kite|quality|sandbox-1|execution/);
    expect((await jobs.get(world.ctx, jobId)).requestSnapshot).toEqual(asked.request);
  }
  // If the content of one is gone, the shared fields are unknown.
  await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1", [jobIds[1]]);
  expect(await jobs.request(world.ctx, jobIds[0]!)).toMatchObject({ contentState: "pruned", request: null });
  await reveal(comparisonId);
  expect(await jobs.request(world.ctx, jobIds[0]!)).toMatchObject({
    request: { input: { prompt: "A red kite" } },
  });
});

test("blind events keep their ids, order and types, and show only fields that do not reveal the competitor", async () => {
  const world = await makeProject();
  const { comparisonId, jobIds } = await compareDrawings(world);
  for (const jobId of jobIds) await run(world, jobId);
  const read = async (jobId: string) => (await jobs.events(world.ctx, jobId, { limit: 200 })).events;
  const blind = await read(jobIds[0]!);
  const followed = [];
  for await (const { items } of await jobs.followEvents(world.ctx, jobIds[0]!, {})) followed.push(...items);
  expect(followed).toEqual(blind);
  expect(new Set(blind.map(({ createdAt }) => createdAt)).size).toBe(1);
  expect(JSON.stringify(blind)).not.toMatch(/sandbox|tier|attempt|Hash/);
  await reveal(comparisonId);
  const shown = await read(jobIds[0]!);
  const ofAll = shown.filter(({ type }) => SHOWN_OF_EVENTS[type]);
  expect(blind.map(({ id, type }) => [id, type])).toEqual(ofAll.map(({ id, type }) => [id, type]));
  expect(JSON.stringify(shown)).toMatch(/"provider":"sandbox"/);
});

test("an event that only some competitors have is shown after the judgement", async () => {
  const world = await makeProject();
  const limit = { period: "day", ceilingMicros: 1, enforcement: "warn" } as const;
  await budgets.set(systemCtx("test", world.clock.now), { owner: { projectId: world.projectId }, ...limit });
  const { comparisonId, jobIds } = await compareDrawings(world);
  const typesOf = async (query: { type?: string }) =>
    (await jobs.events(world.ctx, jobIds[1]!, { limit: 200, ...query })).events.map(({ type }) => type);
  expect(await typesOf({})).toEqual(["job.queued"]);
  expect(await typesOf({ type: "job.budget_warning" })).toEqual([]);
  await reveal(comparisonId);
  expect((await typesOf({})).toSorted()).toEqual(["job.budget_warning", "job.queued"]);
});

test("a submission under a competitor's key is a conflict, whatever the model", async () => {
  const world = await makeProject();
  const { jobIds } = await compareDrawings(world);
  const { rows } = await pool.query("SELECT idempotency_key FROM job WHERE id = $1", [jobIds[0]]);
  for (const preferredModel of ["sandbox-1", "sandbox-2"]) {
    const again = jobs.submit(world.ctx, "image.generate.v1", {
      input: { prompt: "A kite" },
      execution: { executionConstraints: { preferredModel } },
      idempotencyKey: rows[0].idempotency_key,
    } as never);
    expect(await faultOf(again)).toEqual({ code: "IdempotencyConflict", details: { jobId: jobIds[0] } });
  }
});

/**
 * Yields the TypeScript and SQL files of a folder, except tests, generated files, migrations and the sandbox.
 */
function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!["node_modules", "generated", "sandbox", "migrations"].includes(entry.name)) yield* sources(path);
    } else if (/\.(ts|sql)$/.test(entry.name) && !/\.test\.ts$/.test(entry.name)) yield path;
  }
}

test("a filter by who did the work skips blind jobs, and no cursor names one", async () => {
  const world = await makeProject();
  const { comparisonId } = await compareDrawings(world);
  const query = { limit: 1, provider: "sandbox" };
  expect(await jobs.history(world.ctx, world.projectId, query)).toEqual({ items: [], nextCursor: null });
  await reveal(comparisonId);
  expect((await jobs.history(world.ctx, world.projectId, query)).items).toHaveLength(1);
});

test("every event type that the code writes has an entry for blind jobs", () => {
  const root = join(import.meta.dirname, "../../../..");
  const written = new Set<string>();
  for (const folder of ["server/domain", "server/capabilities", "inngest", "prisma"]) {
    for (const path of sources(join(root, folder))) {
      const text = readFileSync(path, "utf8");
      // Code names an event in its type, and SQL in an INSERT INTO event.
      for (const [, type] of text.matchAll(/type: "(job\.[a-z_]+)"/g)) written.add(type!);
      for (const [, insert] of text.matchAll(/INSERT INTO event([\s\S]{0,400})/g))
        for (const [, type] of insert!.matchAll(/'(job\.[a-z_]+)'/g)) written.add(type!);
    }
  }
  expect([...written].sort()).toEqual(Object.keys(SHOWN_OF_EVENTS).sort());
});
