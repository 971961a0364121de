import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { artifactStore } from "@/server/domain/artifacts";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { campaign } from "@/testing/campaign";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";

const IMAGE = "image.generate.v1";

/** Submits a job, runs it to the end and reads it back. */
async function draw(project: TestProject, input: Record<string, Json>, model = "sandbox-1") {
  const { ctx, clock } = project;
  const { jobId } = await jobs.submit(ctx, IMAGE, { input, preferredModel: model });
  await jobs.run(ctx, jobId, inlineStep(clock));
  return jobs.get(ctx, jobId);
}

async function bytesOf(sha256: string | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await artifactStore().open(sha256 ?? "")) pieces.push(piece);
  return Buffer.concat(pieces);
}

type Artifact = Awaited<ReturnType<typeof draw>>["artifacts"][number];

async function pixelsOf(artifact: Artifact | undefined) {
  const { data, info } = await sharp(await bytesOf(artifact?.sha256 ?? null))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const pixels = info.width * info.height;
  const alphaAt = (x: number, y: number) => data[(y * info.width + x) * 4 + 3] ?? -1;
  let visible = 0;
  for (let pixel = 0; pixel < pixels; pixel++) if ((data[pixel * 4 + 3] ?? 0) > 0) visible++;
  return { ...info, data, alphaAt, visible };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads outputs of every shape
type Output = any;

const SHEET = {
  rows: 2,
  columns: 3,
  slice: true,
  labels: ["red sword", "shield", "shield", "poción"],
  normalize: { width: 320, height: 416 },
};

describe("a sliced sheet", () => {
  test.each([
    ["sandbox-1", "grid"],
    ["sandbox-2", "content"],
  ])("a sheet of %s is one call and one charge, with a file per cell, cut by %s", async (model, slicedBy) => {
    const project = await makeProject();
    const job = await draw(
      project,
      { prompt: "Things", requestTransparentOutput: true, transparencyMethod: "matte-v9", sheet: SHEET },
      model,
    );
    expect(job).toMatchObject({
      status: "succeeded",
      variantSet: { requestedCount: 1, completedCount: 1, failedCount: 0, selectedArtifactId: null },
      primaryArtifactId: job.artifacts[0]?.artifactId,
    });
    expect(
      job.artifacts.map(({ kind, label, filename, sliceCellId, slotStatus, variantIndex }) => [
        kind,
        label,
        filename,
        sliceCellId,
        slotStatus,
        variantIndex,
      ]),
    ).toEqual([
      ["composite-sheet", null, "sheet.png", null, null, 0],
      ["sheet-cell", "red sword", "red-sword.png", "r1c1", "filled", null],
      ["sheet-cell", "shield", "shield.png", "r1c2", "filled", null],
      ["sheet-cell", "shield", "shield-r1c3.png", "r1c3", "filled", null],
      ["sheet-cell", "poción", "poción.png", "r2c1", "filled", null],
      ["sheet-cell", null, "r2c2.png", "r2c2", "filled", null],
      ["sheet-cell", null, "r2c3.png", "r2c3", "filled", null],
    ]);
    const output: Output = job.typedOutput;
    expect(output.sheet).toMatchObject({ rows: 2, columns: 3, slicedBy });
    expect(output.images[0]).toMatchObject({
      width: 960,
      height: 832,
      transparency: {
        schemaVersion: "service.png-transparency.v1",
        method: "matte-v9",
        keyColor: "#ff00ff",
        verdict: "valid_transparent_sprite",
        transparencyOk: true,
        opaqueCornerCount: 0,
      },
    });
    expect(output.artifacts).toHaveLength(7);

    const [sheet, ...cells] = await Promise.all(job.artifacts.map(pixelsOf));
    expect([sheet?.width, sheet?.height, sheet?.alphaAt(0, 0)]).toEqual([960, 832, 0]);
    for (const cell of cells) {
      expect([cell.width, cell.height]).toEqual([320, 416]);
      // Each cell is trimmed and centered: clear at the corners, opaque in the middle.
      expect([cell.alphaAt(0, 0), cell.alphaAt(319, 415), cell.alphaAt(160, 208)]).toEqual([0, 0, 255]);
    }
    // The cells contain every part of the drawing exactly once.
    expect(cells.reduce((sum, { visible }) => sum + visible, 0)).toBe(sheet?.visible);
    expect(new Set(job.artifacts.map(({ sha256 }) => sha256)).size).toBe(7);

    const { hold, attempts, events } = await rowsOf(job.jobId);
    expect(attempts).toHaveLength(1);
    expect(hold).toMatchObject({ state: "settled" });
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "job.artifact_stored")).toHaveLength(7);
    const receipt: Output = await jobs.receipt(project.ctx, job.jobId);
    expect(receipt.media).toMatchObject({
      images: 1,
      transparency: { method: "matte-v9", keyColor: "#ff00ff" },
      sheet: { rows: 2, columns: 3, slicedBy, cells: 6, emptyCells: 0 },
    });
    expect(receipt.artifacts).toHaveLength(7);
    const list = await jobs.history(project.ctx, project.projectId, { limit: 5 });
    expect(list.items[0]).toMatchObject({ artifactCount: 7 });
  });

  test("a sheet without transparency is cut along the grid, and its cells put together are the sheet", {
    tags: "long",
  }, async () => {
    const job = await draw(await makeProject(), {
      prompt: "Fields",
      width: 1008,
      height: 816,
      sheet: { rows: 3, columns: 4, slice: true },
    });
    const [sheet, ...cells] = await Promise.all(job.artifacts.map(pixelsOf));
    expect(cells).toHaveLength(12);
    const layers = cells.map((cell, index) => ({
      input: cell.data,
      raw: { width: cell.width, height: cell.height, channels: 4 as const },
      left: (index % 4) * 252,
      top: Math.floor(index / 4) * 272,
    }));
    const together = await sharp({ create: { width: 1008, height: 816, channels: 4, background: "#0000" } })
      .composite(layers)
      .raw()
      .toBuffer();
    expect(together.equals(sheet?.data ?? Buffer.alloc(0))).toBe(true);
  });

  test("labels reach neither the provider's request nor the picture", { tags: "long" }, async () => {
    const project = await makeProject();
    const base = { prompt: "Things", width: 816, height: 816 };
    const sheet = { rows: 2, columns: 2, slice: true };
    const plain = await draw(project, { ...base, sheet });
    const labelled = await draw(project, { ...base, sheet: { ...sheet, labels: ["a", "b", "c", "d"] } });
    // The sandbox draws from its request alone.
    expect(labelled.artifacts.map(({ sha256 }) => sha256)).toEqual(
      plain.artifacts.map(({ sha256 }) => sha256),
    );
    expect(labelled.artifacts[1]?.filename).toBe("a.png");
  });
});

describe("transparent output", () => {
  const METHODS: [asked: Record<string, Json>, wanted: { method: string; [member: string]: Json }][] = [
    [{ transparencyMethod: "native" }, { method: "native" }],
    [{}, { method: "native" }],
    [
      { keyColor: "#00ffff", transparentRegions: "borderConnectedAndEnclosed" },
      { method: "matte-v9", keyColor: "#00ffff", transparentRegions: "borderConnectedAndEnclosed" },
    ],
  ];
  test.each(campaign.sample(METHODS, ([, { method }]) => [method]))(
    "transparency with %j is made by %j, named in the output and the receipt, and present in the pixels",
    async (asked, wanted) => {
      const project = await makeProject();
      const job = await draw(project, {
        prompt: "A flower",
        requestTransparentOutput: true,
        variantCount: 2,
        ...asked,
      });
      const output: Output = job.typedOutput;
      expect(job.variantSet).toMatchObject({ requestedCount: 2, completedCount: 2, failedCount: 0 });
      expect(job.artifacts.map(({ kind, variantIndex }) => [kind, variantIndex])).toEqual([
        ["image", 0],
        ["image", 1],
      ]);
      for (const [index, artifact] of job.artifacts.entries()) {
        const { alphaAt, channels, width, height } = await pixelsOf(artifact);
        expect([channels, width, height]).toEqual([4, 1024, 1024]);
        expect([alphaAt(0, 0), alphaAt(1023, 1023), alphaAt(512, 512)]).toEqual([0, 0, 255]);
        expect(output.images[index].transparency).toMatchObject({ ...wanted, transparencyOk: true });
      }
      expect((await jobs.receipt(project.ctx, job.jobId)).media).toMatchObject({ transparency: wanted });
    },
  );
});

describe("variants", () => {
  test("variants that the provider did not draw count as failed and are not charged", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const job = await draw(project, { prompt: "A kite", variantCount: 3 }, "sandbox-partial");
    expect(job).toMatchObject({
      status: "succeeded",
      primaryArtifactId: null,
      variantSet: {
        schemaVersion: "service.variant-set.v1",
        requestedCount: 3,
        completedCount: 2,
        failedCount: 1,
        selectedArtifactId: null,
      },
    });
    const { job: row, hold } = await rowsOf(job.jobId);
    expect(row.actual_micros).toBe(80_000);
    expect(hold.amount_micros).toBeGreaterThan(hold.settled_micros);
  });

  test("a single image or the selected variant is the primary artifact, and lists filter by selection", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const { ctx, projectId } = project;
    const one = await draw(project, { prompt: "A kite" });
    expect(one.primaryArtifactId).toBe(one.artifacts[0]?.artifactId);
    const two = await draw(project, { prompt: "A kite", variantCount: 2 });
    expect(two.primaryArtifactId).toBeNull();
    const artifactId = two.artifacts[1]?.artifactId ?? "";
    const chosen = await jobs.selectVariant(ctx, two.jobId, { artifactId });
    expect(chosen).toMatchObject({
      primaryArtifactId: artifactId,
      variantSet: { selectedArtifactId: artifactId },
    });
    expect(chosen.artifacts.map(({ selected }) => selected)).toEqual([false, true]);
    const listed = async (query: object) =>
      (await jobs.history(ctx, projectId, { limit: 10, ...query })).items.map(({ jobId }) => jobId);
    expect(await listed({ outcome: "reusable" })).toEqual([two.jobId, one.jobId]);
    expect(await listed({ selected: true })).toEqual([two.jobId]);
    expect(await listed({ selected: false })).toEqual([one.jobId]);
  });

  test("cells of a sheet are no variants and cannot be selected", { tags: "long" }, async () => {
    const project = await makeProject();
    const job = await draw(project, { prompt: "Things", sheet: { rows: 1, columns: 2, slice: true } });
    const [sheet, cell] = job.artifacts.map(({ artifactId }) => artifactId);
    await expect(
      jobs.selectVariant(project.ctx, job.jobId, { artifactId: cell ?? "" }),
    ).rejects.toMatchObject({
      issues: [{ loc: ["body", "artifactId"] }],
    });
    const chosen = await jobs.selectVariant(project.ctx, job.jobId, { artifactId: sheet ?? "" });
    expect(chosen.selectedArtifactId).toBe(sheet);
  });
});

describe("an answer whose picture cannot be processed", () => {
  const input = { prompt: "Things", sheet: { rows: 2, columns: 2, slice: true } };
  const operator = systemCtx("test");

  async function stuck() {
    const project = await makeProject();
    return { project, job: await draw(project, input, "sandbox-garbled") };
  }

  test("a picture that cannot be processed is stored as received and waits for an operator, without settlement or receipt", {
    tags: "long",
  }, async () => {
    const { project, job } = await stuck();
    expect(job).toMatchObject({ status: "needs_attention", typedOutput: null, receiptId: null });
    expect(job.artifacts).toMatchObject([
      { kind: "composite-sheet", slotStatus: "unprocessed", variantIndex: 0 },
    ]);
    expect((await bytesOf(job.artifacts[0]?.sha256 ?? null)).byteLength).toBe(job.artifacts[0]?.byteLength);
    const { hold, events, attempts } = await rowsOf(job.jobId);
    expect(hold.state).toBe("open");
    expect(attempts).toMatchObject([{ submission: "attempted", cost_micros: 40_000 }]);
    expect(events.at(-1)?.type).toBe("job.needs_attention");
    const waiting = await jobs.listAttention({ ...operator, now: project.ctx.now });
    expect(waiting.find(({ jobId }) => jobId === job.jobId)).toMatchObject({
      reason: "output_not_processed",
      step: "process_output",
      isAnswerKept: true,
    });
  });

  test("a retry that cannot process the picture ends in the same state, without another submission", {
    tags: "long",
  }, async () => {
    const { project, job } = await stuck();
    await jobs.retryStep(operator, job.jobId);
    await jobs.run(project.ctx, job.jobId, inlineStep(project.clock));
    expect(await jobs.get(project.ctx, job.jobId)).toMatchObject({
      status: "needs_attention",
      artifacts: [{ slotStatus: "unprocessed" }],
    });
    const { attempts, events } = await rowsOf(job.jobId);
    expect(attempts).toHaveLength(1);
    expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
  });

  test("a retry that can process the picture cuts it, and the cells replace the stored file", {
    tags: "long",
  }, async () => {
    const { project, job } = await stuck();
    const healed = await draw(project, input);
    const { rows } = await pool.query("SELECT artifact_id FROM job_artifact WHERE job_id = $1", [job.jobId]);
    await pool.query("UPDATE artifact SET sha256 = $2 WHERE id = $1", [
      rows[0].artifact_id,
      healed.artifacts[0]?.sha256,
    ]);
    await jobs.retryStep(operator, job.jobId);
    await jobs.run(project.ctx, job.jobId, inlineStep(project.clock));
    const again = await jobs.get(project.ctx, job.jobId);
    expect(again.status).toBe("succeeded");
    expect(again.artifacts.map(({ sha256 }) => sha256)).toEqual(healed.artifacts.map(({ sha256 }) => sha256));
    const { job: row, hold, receipts } = await rowsOf(job.jobId);
    expect([row.artifact_count, hold.state, receipts.length]).toEqual([5, "settled", 1]);
  });

  test("accepting, failing and canceling each settle the cost, and accepting keeps the unprocessed picture", {
    tags: "long",
  }, async () => {
    const accepted = await stuck();
    const whole = await jobs.acceptAsIs(operator, accepted.job.jobId);
    expect(whole).toMatchObject({
      status: "succeeded",
      artifacts: [{ kind: "composite-sheet" }],
      variantSet: { completedCount: 1 },
    });
    const failed = await stuck();
    expect(await jobs.failWaiting(operator, failed.job.jobId)).toMatchObject({ status: "failed" });
    const canceled = await stuck();
    expect(await jobs.cancel(canceled.project.ctx, canceled.job.jobId)).toMatchObject({ status: "canceled" });
    for (const { job } of [accepted, failed, canceled]) {
      const { hold, job: row } = await rowsOf(job.jobId);
      expect([hold.state, row.actual_micros]).toEqual(["settled", 40_000]);
    }
  });
});
