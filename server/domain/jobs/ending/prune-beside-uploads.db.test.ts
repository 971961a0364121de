import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ModelAdapterCreate } from "@/server/contract/adapters";
import * as adapters from "@/server/domain/adapters";
import { artifactStore, keepContents, lockContent } from "@/server/domain/artifacts";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import { weights } from "@/server/model-sources/hub.fixture";
import { inTransaction, pool, type Queryable } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import { ownFigure } from "@/testing/meshes";
import { makeProject, type TestProject } from "@/testing/world";

/* Artifacts with equal bytes share one stored content, which may be pruned while someone uploads it again. */

const upload = ({ ctx }: TestProject, bytes: Buffer, contentType = "text/plain") =>
  inputs.storeArtifact(
    ctx,
    {
      contentType,
      contentDisposition: undefined,
      contentLength: String(bytes.length),
      bytes: (async function* () {
        yield bytes;
      })(),
    },
    {},
  );

/** Waits until this many transactions wait for the lock of this content. */
async function waiting(sha256: string, count: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
      [`content\n${sha256}`],
    );
    if (rows[0]?.count === count) return;
    await sleep(10);
  }
}

/**
 * Starts each work while another transaction locks the content, runs `act` once all of them wait, and returns
 * their results.
 */
async function heldWhile<T>(
  sha256: string,
  works: (() => Promise<T>)[],
  act: (client: Queryable) => Promise<unknown>,
): Promise<T[]> {
  const begun = await inTransaction(async (client) => {
    await lockContent(client, sha256);
    const promises = works.map((work) => work());
    await waiting(sha256, works.length);
    await act(client);
    return promises;
  });
  return Promise.all(begun);
}

const contents = async () => {
  const bytes = randomBytes(64);
  return { bytes, sha256: (await artifactStore().put(bytes)).sha256 };
};
const isThere = async (sha256: string) => (await artifactStore().stat(sha256)) !== null;

test("an upload of bytes that are being removed stores them again", async () => {
  const world = await makeProject();
  const { bytes, sha256 } = await contents();
  const [artifact] = await heldWhile(sha256, [() => upload(world, bytes)], () =>
    artifactStore().remove(sha256),
  );
  expect(await isThere(sha256)).toBe(true);
  expect(await inputs.findArtifact(world.ctx, artifact?.artifactId ?? "")).toMatchObject({ sha256 });
});

test("output bytes that are being removed are stored again", async () => {
  const { bytes, sha256 } = await contents();
  const [kept] = await heldWhile(sha256, [() => keepContents([bytes])], () => artifactStore().remove(sha256));
  expect(kept).toEqual([{ sha256, byteLength: bytes.length }]);
  expect(await isThere(sha256)).toBe(true);
});

/** Uploads bytes that can still be discarded, because no owner is written yet. */
const keepNew = (world: TestProject, bytes: Buffer) =>
  inputs.keepFor(
    world.ctx,
    world.projectId,
    (async function* () {
      yield bytes;
    })(),
    { maxBytes: 1000, filename: null },
  );
const rowsOf = async (sha256: string) =>
  (await pool.query("SELECT id FROM artifact WHERE sha256 = $1", [sha256])).rows.map(({ id }) => id);

test("discarding a refused upload keeps the same bytes of a job's output that has no row yet", async () => {
  const world = await makeProject();
  const bytes = randomBytes(64);
  const upload = await keepNew(world, bytes);
  await sleep(5); // the store keeps times in milliseconds
  const [output] = await keepContents([bytes]);
  await upload.discard();
  expect(await isThere(upload.sha256)).toBe(true);
  expect(output?.sha256).toBe(upload.sha256);
  // The upload's row stays, so pruning finds the bytes once they have expired.
  expect(await rowsOf(upload.sha256)).toEqual([upload.artifactId]);
  world.clock.advance(400 * DAY_MS);
  expect(await jobs.prune(world.ctx, world)).toMatchObject({ artifacts: 1, objects: 1 });
});

test("bytes that no one else stored are discarded at once, with their row", async () => {
  const upload = await keepNew(await makeProject(), randomBytes(64));
  expect(await isThere(upload.sha256)).toBe(true);
  await upload.discard();
  expect(await isThere(upload.sha256)).toBe(false);
  expect(await rowsOf(upload.sha256)).toEqual([]);
});

test("bytes stay if another artifact begins to refer to them while their pruning waits", async () => {
  const world = await makeProject();
  const { bytes, sha256 } = await contents();
  const { artifactId } = await upload(world, bytes);
  world.clock.advance(400 * DAY_MS);
  const another = newId("artifact");
  const [pruned] = await heldWhile(sha256, [() => jobs.prune(world.ctx, world)], (client) =>
    client.query(
      `INSERT INTO artifact (id, project_id, media_type, sha256, byte_length, created_at)
         SELECT $2, project_id, media_type, sha256, byte_length, now() FROM artifact WHERE id = $1`,
      [artifactId, another],
    ),
  );
  expect(pruned).toMatchObject({ artifacts: 1, objects: 0 });
  expect(await isThere(sha256)).toBe(true);
});

test("a file stays if a job names it while its pruning waits, and one that was pruned first is refused at its field", async () => {
  const world = await makeProject();
  const { artifactId, sha256 } = await upload(world, await ownFigure(), "image/png");
  world.clock.advance(400 * DAY_MS);
  const mesh = { input: { inputArtifactIds: [artifactId] } } as never;
  const submit = () => jobs.submit(world.ctx, "model.generate.3d.v1", mesh);
  const [pruned] = await heldWhile(sha256, [() => jobs.prune(world.ctx, world)], submit);
  expect(pruned).toMatchObject({ artifacts: 0, objects: 0 });
  expect(await isThere(sha256)).toBe(true);
  // The file has expired: it is kept for the job and no longer listed.
  expect((await jobs.references(world.ctx, world.projectId, { limit: 10 })).items).toEqual([]);
  await pool.query("UPDATE artifact SET pruned_at = now() WHERE id = $1", [artifactId]);
  const field = ["input", "inputArtifactIds", 0];
  await expect(
    inputs.keepNamed(pool, world.projectId, [{ artifactId, field }], world.clock.now()),
  ).rejects.toMatchObject({ issues: [{ loc: ["body", ...field], type: "not_found" }] });
});

/** Uploads weights that no other test uses; `register` creates an adapter from them. */
async function uploadWeights(world: TestProject) {
  const { artifactId, sha256 } = await upload(
    world,
    weights({ metadata: { name: newId("artifact") } }),
    "application/octet-stream",
  );
  const said = ModelAdapterCreate.parse({
    displayName: artifactId,
    baseModelFamily: "flux",
    source: { kind: "service_artifact", ref: artifactId },
  });
  return { artifactId, sha256, register: () => adapters.register(world.ctx, {}, said) };
}

test("weights stay stored if they are registered while their pruning waits, and are not listed as references", async () => {
  const world = await makeProject();
  const { sha256, register } = await uploadWeights(world);
  world.clock.advance(31 * DAY_MS);
  const [pruned] = await heldWhile(sha256, [() => jobs.prune(world.ctx, world)], register);
  expect(pruned).toMatchObject({ artifacts: 0, objects: 0 });
  expect(await isThere(sha256)).toBe(true);
  expect((await jobs.references(world.ctx, world.projectId, { limit: 10 })).items).toEqual([]);
  world.clock.advance(400 * DAY_MS);
  expect(await jobs.prune(world.ctx, world)).toMatchObject({ artifacts: 0, objects: 0 });
});

test("weights that are pruned while their registration reads them are refused at its field", async () => {
  const world = await makeProject();
  const { artifactId, register } = await uploadWeights(world);
  const registration = await inTransaction(async (client) => {
    await client.query("UPDATE artifact SET pruned_at = now() WHERE id = $1", [artifactId]);
    const begun = register().catch((cause) => cause);
    for (;;) {
      const { rows } = await pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%kept_until%'",
      );
      if (rows.length > 0) return { begun };
      await sleep(10);
    }
  });
  expect(await registration.begun).toMatchObject({
    issues: [{ loc: ["body", "source", "ref"], type: "not_found" }],
  });
});

test("two prunings of artifacts with the same bytes remove the bytes exactly once", async () => {
  const worlds = [await makeProject(), await makeProject()];
  const { bytes, sha256 } = await contents();
  for (const world of worlds) {
    await upload(world, bytes);
    world.clock.advance(400 * DAY_MS);
  }
  const pruned = await heldWhile(
    sha256,
    worlds.map((world) => () => jobs.prune(world.ctx, world)),
    async () => {},
  );
  expect(pruned.map(({ objects }) => objects).sort()).toEqual([0, 1]);
  expect(await isThere(sha256)).toBe(false);
});
