import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { JOB_STATUSES, TERMINAL } from "@/server/contract/enums";
import { artifactStore } from "@/server/domain/artifacts";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import { changeProject } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { ownFigure } from "@/testing/meshes";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

async function ended(world: TestProject, body: object, key = TEXT): Promise<string> {
  const { jobId } = await jobs.submit(world.ctx, key, body as never);
  await jobs.run(world.ctx, jobId, inlineStep(world.clock));
  return jobId;
}

const pruneAt = (world: TestProject, ms: number) => {
  world.clock.advance(ms);
  return jobs.prune(world.ctx, world);
};
const contentOf = async (jobId: string) =>
  (
    await pool.query(
      "SELECT kind, content IS NOT NULL AS kept, sha256, byte_length FROM payload WHERE job_id = $1 ORDER BY kind",
      [jobId],
    )
  ).rows;

for (const [retentionRequirement, keptMs] of [
  ["HashesOnly", HOUR_MS],
  ["Transient", 30 * DAY_MS],
  ["EncryptedShortTerm", 7 * DAY_MS],
  ["ProductManaged", 180 * DAY_MS],
  ["ProductionAsset", null],
] as const) {
  test(`${retentionRequirement}: content is kept ${keptMs === null ? "until it is deleted" : `for ${keptMs / HOUR_MS} hours`}; digests stay`, async () => {
    const world = await makeProject();
    const jobId = await ended(world, { input, context: { retentionRequirement } });
    const receipt = await jobs.receipt(world.ctx, jobId);
    await pruneAt(world, (keptMs ?? 1000 * DAY_MS) - 60_000);
    expect(await jobs.result(world.ctx, jobId)).toMatchObject({ payloadState: "available" });
    await pruneAt(world, 120_000);
    const rows = await contentOf(jobId);
    expect(rows).toHaveLength(2);
    for (const row of rows)
      expect(row).toMatchObject({ kept: keptMs === null, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const job = await jobs.get(world.ctx, jobId);
    const request = await jobs.request(world.ctx, jobId);
    const result = await jobs.result(world.ctx, jobId);
    expect(await jobs.receipt(world.ctx, jobId)).toEqual(receipt);
    if (keptMs === null) {
      expect(request).toMatchObject({ contentState: "available" });
      return;
    }
    expect(job).toMatchObject({ status: "succeeded", typedOutput: null });
    expect(job.requestSnapshot).toEqual({
      capability: TEXT,
      productId: "",
      environment: "development",
      idempotencyKey: job.idempotencyKey,
    });
    expect(request).toMatchObject({
      contentState: "pruned",
      request: null,
      sha256: rows.find(({ kind }) => kind === "request").sha256,
    });
    expect(result).toMatchObject({
      payloadState: "pruned",
      typedOutput: null,
      outputPayloadRef: expect.stringMatching(/^pay_/),
    });
    expect(receipt.inputHash).toMatch(/^[0-9a-f]{64}$/);
  });
}

test("HashesOnly keeps no request after a run, and none at all of a synchronous run", async () => {
  const world = await makeProject();
  const context = { retentionRequirement: "HashesOnly" };
  const jobId = await ended(world, { input, context });
  expect((await jobs.request(world.ctx, jobId)).contentState).toBe("pruned");
  expect((await jobs.get(world.ctx, jobId)).requestSnapshot).not.toHaveProperty("input");
  expect((await jobs.result(world.ctx, jobId)).payloadState).toBe("available");
  const body = { input, context, idempotencyKey: "once" } as never;
  const { executionId, typedOutput } = await jobs.invoke(world.ctx, TEXT, body);
  expect((await contentOf(executionId)).map(({ kind, kept }) => [kind, kept])).toEqual([
    ["output", true],
    ["request", false],
  ]);
  expect((await jobs.invoke(world.ctx, TEXT, body)).typedOutput).toEqual(typedOutput);
  await pruneAt(world, 2 * HOUR_MS);
  const late = await jobs.invoke(world.ctx, TEXT, body);
  expect(late).toMatchObject({ executionId, typedOutput: null, warnings: [{ code: "PayloadUnavailable" }] });
});

test("a queued job keeps its request after its retention has ended, and succeeds", async () => {
  const world = await makeProject();
  const { jobId } = await jobs.submit(world.ctx, TEXT, {
    input,
    context: { retentionRequirement: "HashesOnly" },
  } as never);
  await pruneAt(world, 90 * 60_000);
  await jobs.run(world.ctx, jobId, inlineStep(world.clock));
  expect(await jobs.get(world.ctx, jobId)).toMatchObject({ status: "succeeded" });
});

test("a job in any status before its end keeps its request, texts, frames and files after their retention has ended", async () => {
  const world = await makeProject();
  const kept = new Map<string, string>();
  for (const status of JOB_STATUSES.filter((each) => !TERMINAL.includes(each))) {
    const { jobId } = await jobs.submit(world.ctx, TEXT, { input } as never);
    kept.set(jobId, status);
    await pool.query("UPDATE job SET status = $2 WHERE id = $1", [jobId, status]);
    await pool.query("UPDATE payload SET expires_at = now() WHERE job_id = $1", [jobId]);
    await pool.query(
      "INSERT INTO event_text (project_id, job_id, event_id, text, expires_at) VALUES ($1, $2, 1, 'words', now())",
      [world.projectId, jobId],
    );
    await pool.query(
      `INSERT INTO stream_frame (project_id, job_id, id, event, data, created_at, expires_at)
       VALUES ($1, $2, 1, 'token', '{}', now(), now())`,
      [world.projectId, jobId],
    );
    await pool.query(
      `WITH made AS (
         INSERT INTO artifact (id, project_id, media_type, sha256, byte_length, created_at, expires_at)
         VALUES ($1, $2, 'image/png', encode(sha256($1::text::bytea), 'hex'), 1, now(), now()) RETURNING project_id, id)
       INSERT INTO job_artifact (project_id, job_id, artifact_id, position, kind) SELECT project_id, $3, id, 0, 'image' FROM made`,
      [newId("artifact"), world.projectId, jobId],
    );
  }
  await pruneAt(world, HOUR_MS);
  const { rows } = await pool.query<{ status: string; kept: boolean[] }>(
    `SELECT status::text, ARRAY[payload.content IS NOT NULL, event_text.text IS NOT NULL, frame.id IS NOT NULL,
       artifact.pruned_at IS NULL] AS kept
     FROM job JOIN payload ON payload.job_id = job.id LEFT JOIN event_text ON event_text.job_id = job.id
     LEFT JOIN stream_frame frame ON frame.job_id = job.id
     JOIN job_artifact made ON made.job_id = job.id JOIN artifact ON artifact.id = made.artifact_id WHERE job.id = ANY($1)`,
    [[...kept.keys()]],
  );
  expect(Object.fromEntries(rows.map((row) => [row.status, row.kept]))).toEqual(
    Object.fromEntries([...kept.values()].map((status) => [status, [true, true, true, true]])),
  );
});

test("an artifact that an input names stays while its job waits, is approved and runs, and is pruned after the end", {
  tags: "long",
}, async () => {
  const world = await makeProject();
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [world.projectId]);
  const { artifactId, sha256 } = await inputs.storeArtifact(
    world.ctx,
    {
      contentType: "image/png",
      contentDisposition: undefined,
      contentLength: undefined,
      bytes: Readable.from([await ownFigure()]),
    },
    {},
  );
  world.clock.advance(28 * DAY_MS);
  const mesh = { input: { inputArtifactIds: [artifactId] } } as never;
  const { jobId, status } = await jobs.submit(world.ctx, "model.generate.3d.v1", mesh);
  expect(status).toBe("awaiting_approval");
  expect(await pruneAt(world, 6 * DAY_MS)).toMatchObject({ artifacts: 0, objects: 0 });
  const approver = { ...world.ctx, principal: { kind: "system", id: "test" } as const };
  await jobs.approve(approver, jobId);
  expect(await pruneAt(world, HOUR_MS)).toMatchObject({ artifacts: 0, objects: 0 });
  await jobs.run(world.ctx, jobId, inlineStep(world.clock));
  expect(await jobs.get(world.ctx, jobId)).toMatchObject({ status: "succeeded" });
  expect(await pruneAt(world, HOUR_MS)).toMatchObject({ artifacts: 1, objects: 1 });
  expect(await artifactStore().stat(sha256)).toBeNull();
});

test("retrying a pruned job is refused because its content is gone", async () => {
  const world = await makeProject();
  const { jobId } = await jobs.submit(world.ctx, TEXT, { input } as never);
  await jobs.cancel(world.ctx, jobId);
  await pruneAt(world, 31 * DAY_MS);
  await expect(jobs.retry(world.ctx, jobId)).rejects.toMatchObject({ code: "PayloadUnavailable" });
});

test("texts, frames and delivery bodies of a job are pruned with its content", async () => {
  const world = await makeProject();
  const jobId = await ended(world, { input });
  const of = [world.projectId, jobId];
  await pool.query(
    "INSERT INTO event_text (project_id, job_id, event_id, text) VALUES ($1, $2, 1, 'words')",
    of,
  );
  await pool.query(
    "INSERT INTO stream_frame (project_id, job_id, id, event, data, created_at) VALUES ($1, $2, 1, 'token', '{}', now())",
    of,
  );
  const [endpoint, sent, waiting] = [newId("endpoint"), newId("delivery"), newId("delivery")];
  await pool.query(
    "INSERT INTO delivery_endpoint (id, organization_id, url, secret, event_types, created_at, updated_at) VALUES ($1, $2, 'https://a.test', '', '{}', now(), now())",
    [endpoint, world.organizationId],
  );
  for (const [id, state] of [
    [sent, "succeeded"],
    [waiting, "pending"],
  ])
    await pool.query(
      `INSERT INTO delivery (id, organization_id, project_id, endpoint_id, event_id, job_id, type, body, state, created_at)
       VALUES ($1, $2, $3, $4, $1, $5, 'job.reader_text', 'words', $6, now())`,
      [id, world.organizationId, world.projectId, endpoint, jobId, state],
    );
  const left = async () => ({
    texts: (await pool.query("SELECT FROM event_text WHERE job_id = $1", [jobId])).rowCount,
    frames: (await pool.query("SELECT FROM stream_frame WHERE job_id = $1", [jobId])).rowCount,
    bodies: (await pool.query("SELECT id FROM delivery WHERE job_id = $1 AND body IS NOT NULL", [jobId])).rows
      .map(({ id }) => id)
      .sort(),
  });
  await pruneAt(world, 29 * DAY_MS);
  expect(await left()).toEqual({ texts: 1, frames: 1, bodies: [sent, waiting].sort() });
  await pruneAt(world, 2 * DAY_MS);
  expect(await left()).toEqual({ texts: 0, frames: 0, bodies: [waiting] });
  await pool.query("UPDATE delivery SET state = 'failed' WHERE id = $1", [waiting]);
  await pruneAt(world, HOUR_MS);
  expect((await left()).bodies).toEqual([]);
});

test("bytes are removed when no artifact names them any longer, and bytes just stored stay", {
  tags: "long",
}, async () => {
  const world = await makeProject();
  const prompt = `A kite ${newId("request")}`;
  const draw = (retentionRequirement: string) =>
    ended(world, { input: { prompt }, context: { retentionRequirement } }, IMAGE);
  const [short, long] = [await draw("Transient"), await draw("ProductManaged")];
  const one = (await jobs.get(world.ctx, short)).artifacts[0]!;
  const other = (await jobs.get(world.ctx, long)).artifacts[0]!;
  expect(one.sha256).toBe(other.sha256);
  await pruneAt(world, 31 * DAY_MS);
  await expect(jobs.artifact(world.ctx, short, one.artifactId)).rejects.toMatchObject({ code: "Gone" });
  await expect(inputs.findArtifact(world.ctx, one.artifactId)).rejects.toMatchObject({ code: "Gone" });
  expect(await jobs.artifact(world.ctx, long, other.artifactId)).toMatchObject({ sha256: one.sha256 });
  expect((await jobs.receipt(world.ctx, short)).artifacts[0]).toMatchObject({ sha256: one.sha256 });
  await pruneAt(world, 150 * DAY_MS);
  expect(await artifactStore().stat(one.sha256 ?? "")).toBeNull();
  await expect(jobs.artifact(world.ctx, long, other.artifactId)).rejects.toMatchObject({ code: "Gone" });

  const young = await makeProject();
  const kept = await ended(young, { input: { prompt: `${prompt} again` } }, IMAGE);
  const { artifactId, sha256 } = (await jobs.get(young.ctx, kept)).artifacts[0]!;
  await pool.query("UPDATE artifact SET expires_at = now() WHERE id = $1", [artifactId]);
  await pruneAt(young, 60_000);
  expect(await artifactStore().stat(sha256 ?? "")).not.toBeNull();
  expect(await jobs.artifact(young.ctx, kept, artifactId)).toMatchObject({ sha256 });
});

test("a project may shorten retention, also of existing content, and never lengthen it", async () => {
  const world = await makeProject();
  const admin = { ...world.ctx, principal: { kind: "system", id: "test" } as const };
  const before = await ended(world, { input });
  const asset = await ended(world, { input, context: { retentionRequirement: "ProductionAsset" } });
  await changeProject(admin, {
    projectId: world.projectId,
    retentionDays: { Transient: 2, ProductManaged: 400 },
  });
  const after = await ended(world, { input });
  const managed = await ended(world, { input, context: { retentionRequirement: "ProductManaged" } });
  const rows = await pool.query(
    "SELECT job_id, kind, extract(epoch FROM expires_at - created_at) / 86400 AS days FROM payload WHERE project_id = $1",
    [world.projectId],
  );
  const days = (jobId: string) =>
    rows.rows.filter((row) => row.job_id === jobId).map((row) => Math.round(Number(row.days)));
  expect(days(before)).toEqual([2, 2]);
  expect(days(after)).toEqual([2, 2]);
  expect(days(managed)).toEqual([180, 180]);
  await pruneAt(world, 3 * DAY_MS);
  const state = async (jobId: string) => (await jobs.result(world.ctx, jobId)).payloadState;
  expect([await state(before), await state(after), await state(managed), await state(asset)]).toEqual([
    "pruned",
    "pruned",
    "available",
    "available",
  ]);
});
