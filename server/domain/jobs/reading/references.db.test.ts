import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";

async function draw({ ctx, clock }: TestProject, variantCount: number, prompt = "A kite") {
  const { jobId } = await jobs.submit(ctx, "image.generate.v1", { input: { prompt, variantCount } });
  await jobs.run(ctx, jobId, inlineStep(clock));
  return jobs.get(ctx, jobId);
}

async function upload({ projectId }: TestProject, fields: { prunedAt?: Date; expiresAt?: Date } = {}) {
  const id = newId("artifact");
  await pool.query(
    `INSERT INTO artifact (id, project_id, media_type, sha256, byte_length, filename, created_at, uploaded_by, pruned_at, expires_at)
     VALUES ($1, $2, 'image/png', $3, 5, 'mine.png', now(), 'key_x', $4, $5)`,
    [id, projectId, "0".repeat(64), fields.prunedAt ?? null, fields.expiresAt ?? null],
  );
  return id;
}

const idsOf = (page: { items: { artifactId: string }[] }) => page.items.map(({ artifactId }) => artifactId);

test("references are uploads and the primary output of each job, newest first", {
  tags: "long",
}, async () => {
  const world = await makeProject();
  const single = await draw(world, 1);
  const several = await draw(world, 2);
  const mine = await upload(world);
  const page = () => jobs.references(world.ctx, world.projectId, { limit: 50 });
  // No variant of the two has been selected yet.
  expect(idsOf(await page())).toEqual([mine, single.primaryArtifactId]);
  const chosen = several.artifacts[1]?.artifactId ?? "";
  await jobs.selectVariant(world.ctx, several.jobId, { artifactId: chosen });
  expect((await page()).items).toEqual([
    expect.objectContaining({
      artifactId: mine,
      source: "upload",
      kind: "input",
      jobId: null,
      filename: "mine.png",
      downloadPath: `/v1/artifacts/${mine}`,
    }),
    expect.objectContaining({
      artifactId: chosen,
      source: "output",
      selected: true,
      jobId: several.jobId,
      capabilityKey: "image.generate.v1",
      mediaType: "image/png",
      downloadPath: `/v1/jobs/${several.jobId}/artifacts/${chosen}`,
    }),
    expect.objectContaining({ artifactId: single.primaryArtifactId, selected: false }),
  ]);
});

test("references are paged and never show a prompt", async () => {
  const world = await makeProject();
  for (let number = 0; number < 3; number++) await upload(world);
  await draw(world, 1, "a phrase no one else would write");
  const { ctx, projectId } = world;
  const all = await jobs.references(ctx, projectId, { limit: 50 });
  expect(all.items).toHaveLength(4);
  expect(all).not.toHaveProperty("nextCursor");
  expect(JSON.stringify(all)).not.toContain("a phrase");
  const first = await jobs.references(ctx, projectId, { limit: 3 });
  const rest = await jobs.references(ctx, projectId, { limit: 3, cursor: first.nextCursor });
  expect([...idsOf(first), ...idsOf(rest)]).toEqual(idsOf(all));
  expect(rest.nextCursor).toBeUndefined();
});

test("an artifact without content or of another project is no reference", async () => {
  const [world, other] = [await makeProject(), await makeProject()];
  await upload(world, { prunedAt: new Date() });
  await upload(world, { expiresAt: new Date(Date.now() - 1_000) });
  await upload(other);
  expect(await jobs.references(world.ctx, world.projectId, { limit: 50 })).toEqual({ items: [] });
  await expect(jobs.references(world.ctx, other.projectId, { limit: 50 })).rejects.toMatchObject({
    code: "NotFound",
  });
});
