/** @module-tag long */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type RenderRequest, renderModel } from "@/server/compute/rendering";
import { blankModel, box, TEST_MODELS, toGlb } from "@/server/compute/rendering/test/models";
import { artifactStore } from "@/server/domain/artifacts";
import { getCapability } from "@/server/domain/catalog";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { ERRORS } from "@/server/platform/errors/errors";
import { runJobKilledAt } from "@/testing/processes";
import { inlineStep, makeProject, rowsOf, startJob, type TestProject } from "@/testing/world";
import { attempt } from "./run";

const RENDER = "3d.render_reference.v1";
const LARGE: RenderRequest = {
  ...{ views: ["front"], sheet: false, width: 2048, height: 2048 },
  ...{ framing: "fit", style: "material", background: "light" },
};
const GLB = "model/gltf-binary";
const PAST_LEASE_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: a test reads outputs of every shape
type Output = any;

async function cube(): Promise<Uint8Array> {
  const { document, add } = blankModel();
  add(box(), [0.2, 0.4, 0.8, 1]);
  return toGlb(document);
}

async function upload(
  { ctx, projectId }: TestProject,
  bytes: Uint8Array,
  contentType = GLB,
): Promise<string> {
  async function* whole() {
    yield bytes;
  }
  const stored = await inputs.storeArtifact(
    ctx,
    { contentType, contentDisposition: undefined, contentLength: undefined, bytes: whole() },
    { projectId },
  );
  return stored.artifactId;
}

async function submit(project: TestProject, input: Record<string, Json> = {}, glb?: Uint8Array) {
  const artifactId = await upload(project, glb ?? (await cube()));
  const wanted = { source: { artifactId }, width: 128, height: 128, ...input };
  const { jobId } = await jobs.submit(project.ctx, RENDER, { input: wanted });
  return jobId;
}

async function bytesOf(sha256: string | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await artifactStore().open(sha256 ?? "")) pieces.push(piece);
  return Buffer.concat(pieces);
}

test("durable work done in this process ends with its files, its output and a receipt without cost", async () => {
  const project = await makeProject({ walletMicros: 0 });
  const jobId = await submit(project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({ status: "succeeded", error: null });
  const kinds = job.artifacts.map(({ kind, label, mediaType }) => [kind, label, mediaType]);
  expect(kinds).toEqual([
    ...["front", "three-quarter", "right", "back", "left"].map((view) => [
      "reference_view",
      view,
      "image/png",
    ]),
    ["reference_contact_sheet", "contact sheet", "image/png"],
    ["reference_manifest", "manifest", "application/json"],
  ]);
  const output: Output = job.typedOutput;
  expect(output).toMatchObject({
    mesh: { triangles: 12, vertices: 24, materials: 1, boundingBox: { min: [-1, -1, -1], max: [1, 1, 1] } },
    technicalQa: { verdict: "ok", warnings: [] },
  });
  expect(output.artifacts).toEqual(
    job.artifacts.map(({ artifactId, kind, label, mediaType, downloadPath }) => ({
      artifactId,
      kind,
      label,
      mediaType,
      downloadPath,
    })),
  );
  const manifest: Output = JSON.parse((await bytesOf(job.artifacts.at(-1)?.sha256 ?? null)).toString());
  expect(manifest.source.sha256).toBe(
    createHash("sha256")
      .update(await cube())
      .digest("hex"),
  );
  expect(manifest.files.map(({ sha256 }: Output) => sha256)).toEqual(
    job.artifacts.slice(0, -1).map(({ sha256 }) => sha256),
  );
  expect(manifest.cameras).toHaveLength(5);

  const rows = await rowsOf(jobId);
  expect(rows.attempts).toHaveLength(1);
  expect(rows.attempts[0]).toMatchObject({ submission: "not_attempted" });
  expect(rows.events.map(({ id }) => id)).toEqual(rows.events.map((_, at) => at + 1));
  expect(rows.ledger.reduce((sum, { amount_micros }) => sum + Number(amount_micros), 0)).toBe(0);
  expect(rows.receipts).toHaveLength(1);
  const receipt: Output = await jobs.receipt(project.ctx, jobId);
  expect(receipt.artifacts).toHaveLength(7);
});

test("a single image is one file, identical each time", async () => {
  const project = await makeProject();
  const sums: (string | null | undefined)[] = [];
  for (let n = 0; n < 2; n++) {
    const jobId = await submit(project, { output: "image", view: "top", background: "transparent" });
    await jobs.run(project.ctx, jobId, inlineStep(project.clock));
    const { artifacts } = await jobs.get(project.ctx, jobId);
    expect(artifacts).toMatchObject([{ kind: "reference_view", label: "top", filename: "top.png" }]);
    sums.push(artifacts[0]?.sha256);
  }
  expect(sums[0]).toBe(sums[1]);
});

test("a drawing that runs out of time fails as ServiceUnavailable, may be retried and costs nothing", async () => {
  const { execute } = getCapability(RENDER);
  if (!("local" in execute)) throw new Error("models are drawn here");
  const { run } = execute;
  execute.run = async (_input, signal) => {
    await renderModel(await cube(), LARGE, signal, 1);
    throw new Error("the drawing was not ended");
  };
  const project = await makeProject();
  const jobId = await submit(project);
  try {
    await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  } finally {
    execute.run = run;
  }
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "ServiceUnavailable", message: expect.stringContaining("Nothing was charged. Retry") },
    retry: { newKeySafe: true },
  });
  expect(ERRORS.ServiceUnavailable).toMatchObject({ status: 503, retryable: true });
  const { ledger } = await rowsOf(jobId);
  expect(ledger.filter(({ amount_micros }) => Number(amount_micros) !== 0)).toEqual([]);
  const again = await submit(project);
  await jobs.run(project.ctx, again, inlineStep(project.clock));
  expect((await jobs.get(project.ctx, again)).status).toBe("succeeded");
});

test("a file that cannot be drawn fails the job with its reason and leaves no artifacts", async () => {
  const project = await makeProject();
  const jobId = await submit(project, {}, (await cube()).slice(0, 300));
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "failed",
    artifacts: [],
    error: { code: "InvalidInput", message: expect.stringContaining("cut off") },
  });
  expect((await rowsOf(jobId)).receipts).toHaveLength(1);
});

test("a source that is missing, of another project or of another kind is refused at its field before a job exists", async () => {
  const [project, other] = [await makeProject(), await makeProject()];
  const field = ["body", "input", "source", "artifactId"];
  for (const artifactId of [
    "art_none",
    await upload(other, await cube()),
    await upload(project, await cube(), "image/png"),
  ])
    await expect(
      jobs.submit(project.ctx, RENDER, { input: { source: { artifactId } } }),
    ).rejects.toMatchObject({ issues: [expect.objectContaining({ loc: field })] });
});

test.each(["after-claim", "before-receipt"] as const)(
  "after a worker dies %s, another one does the work again, once",
  async (failpoint) => {
    const project = await makeProject();
    const jobId = await submit(project, { output: "image" });
    expect(await runJobKilledAt(jobId, failpoint)).toBe("SIGKILL");
    await project.pass(PAST_LEASE_MS);
    await jobs.sweep(project.ctx, project);
    await jobs.run(project.ctx, jobId, inlineStep(project.clock));
    const rows = await rowsOf(jobId);
    expect(rows.job).toMatchObject({ status: "succeeded" });
    expect(rows.receipts).toHaveLength(1);
    expect(rows.events.map(({ id }) => id)).toEqual(rows.events.map((_, at) => at + 1));
    expect(rows.events.filter(({ type }) => type === "job.artifact_stored")).toHaveLength(1);
    expect((await jobs.get(project.ctx, jobId)).artifacts).toHaveLength(1);
  },
);

test("work that is unfinished at its deadline fails with ExecutionTimeout", async () => {
  const project = await makeProject();
  const large = { width: 2048, height: 2048 };
  const jobId = await submit(project, large, await TEST_MODELS["glass around a core"]?.());
  const started = await startJob(project.ctx, jobId);
  if (!started) throw new Error("the job was not taken");
  // A tenth of a second is left for seconds of work.
  project.clock.advance(300_000 - 100);
  expect(await attempt(project.ctx, jobId, started)).toMatchObject({ state: "ended" });
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    artifacts: [],
    error: { code: "ExecutionTimeout" },
  });
});

test("a cancel ends running work, and nothing is kept", async () => {
  const project = await makeProject();
  const jobId = await submit(
    project,
    { width: 2048, height: 2048 },
    await TEST_MODELS["glass around a core"]?.(),
  );
  const running = jobs.run(project.ctx, jobId, inlineStep(project.clock));
  for (;;) {
    const { rows } = await pool.query("SELECT status FROM job WHERE id = $1", [jobId]);
    if (rows[0].status === "running") break;
  }
  await jobs.cancel(project.ctx, jobId);
  await running;
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({ status: "canceled", artifacts: [] });
  expect((await rowsOf(jobId)).receipts).toHaveLength(1);
});
