import { expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import { prune } from "@/server/domain/jobs";
import { changeProject } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { makeProject, type TestProject } from "@/testing/world";
import * as pins from ".";

const input = "How deep is the canary's sea?";

const pin = (world: TestProject, retentionRequirement: string) =>
  pins.run(world.ctx, {
    pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
    input,
    sampling: { maxOutputTokens: 100 },
    includeNativeResponse: true,
    context: { retentionRequirement },
  });

const pruneAt = (world: TestProject, ms: number) => {
  world.clock.advance(ms);
  return prune(world.ctx, world);
};
type Kept = { kind: string; content: string | null; is_sealed: boolean; sha256: string; days: number | null };
const contentOf = async (pinnedId: string): Promise<Kept[]> =>
  (
    await pool.query<Kept>(
      `SELECT kind, content, is_sealed, sha256, extract(epoch FROM expires_at - created_at)::float8 / 86400 AS days
       FROM payload WHERE pinned_id = $1 ORDER BY kind`,
      [pinnedId],
    )
  ).rows;

for (const [retentionRequirement, keptMs, kinds] of [
  ["HashesOnly", HOUR_MS, ["native", "output"]],
  ["Transient", 30 * DAY_MS, ["native", "output", "request"]],
  ["EncryptedShortTerm", 7 * DAY_MS, ["native", "output", "request"]],
  ["ProductManaged", 180 * DAY_MS, ["native", "output", "request"]],
  ["ProductionAsset", null, ["native", "output", "request"]],
] as const) {
  test(`${retentionRequirement}: a pin's content is kept ${keptMs === null ? "until it is deleted" : `for ${keptMs / HOUR_MS} hours`}; its record and its hashes stay`, async () => {
    const world = await makeProject();
    const { executionId, receiptId, receipt } = await pin(world, retentionRequirement);
    expect(receipt).toMatchObject({
      output: { text: expect.any(String) },
      nativeResponse: expect.anything(),
    });
    const kept = await contentOf(executionId);
    expect(kept.map(({ kind }) => kind)).toEqual(kinds);
    const isSealed = retentionRequirement === "EncryptedShortTerm";
    for (const { content, is_sealed } of kept) {
      expect(is_sealed).toBe(isSealed);
      if (isSealed) expect(content).not.toMatch(/canary|finishReason|output/);
    }

    await pruneAt(world, (keptMs ?? 1_000 * DAY_MS) - 60_000);
    expect(await pins.get(world.ctx, receiptId)).toEqual(receipt);
    await pruneAt(world, 120_000);
    const after = await pins.get(world.ctx, receiptId);
    if (keptMs === null) return expect(after).toEqual(receipt);
    const { nativeResponse: _, ...rest } = receipt;
    expect(after).toEqual({ ...rest, output: null });
    const left = await contentOf(executionId);
    expect(left).toEqual(kept.map((row) => ({ ...row, content: null })));
    expect(left.find(({ kind }) => kind === "output")?.sha256).toBe(receipt.outputHash);
    expect(left.find(({ kind }) => kind === "native")?.sha256).toBe(receipt.nativeResponseHash);
  });
}

test("a repost after the content was removed warns that the output is no longer available", async () => {
  const world = await makeProject();
  const body = {
    pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
    input,
    sampling: { maxOutputTokens: 100 },
    idempotencyKey: "once",
  };
  const first = await pins.run(world.ctx, body);
  expect(await pins.run(world.ctx, body)).toMatchObject({ executionId: first.executionId, warnings: [] });
  await pruneAt(world, 31 * DAY_MS);
  expect(await pins.run(world.ctx, body)).toMatchObject({
    executionId: first.executionId,
    output: null,
    warnings: [{ code: "PayloadUnavailable" }],
  });
});

test.each([
  ["queued", "accepted"],
  ["running", "running"],
])(
  "the content of a %s execution is kept, and so is the shared content of its %s bulk",
  async (pinStatus, bulkStatus) => {
    const world = await makeProject();
    const { executionId } = await pin(world, "Transient");
    const of = [world.projectId, world.organizationId];
    const bulkId = newId("bulk");
    const unended = newId("pinned");
    await pool.query(
      `INSERT INTO pinned_bulk (id, project_id, organization_id, environment, principal_id, principal_kind, identity_hash, status,
       provider, model, api, plan, concurrency, lanes, item_count, created_at)
     VALUES ($3, $1, $2, 'development', 'key_x', 'service_principal', '', $4, 'sandbox', 'sandbox-1', 'responses',
       '{"retentionRequirement": "Transient"}', 1, 1, 2, now())`,
      [...of, bulkId, bulkStatus],
    );
    // One item of the bulk has ended, and the other one has not.
    await pool.query(
      `INSERT INTO pinned_execution SELECT (jsonb_populate_record(pin, jsonb_build_object('id', $2::text, 'status', $4::text,
       'bulk_id', $3::text, 'position', 2, 'item_id', 'b', 'plan', NULL, 'completed_at', NULL, 'receipt_id', NULL))).*
     FROM pinned_execution pin WHERE id = $1`,
      [executionId, unended, bulkId, pinStatus],
    );
    const [shared, own] = [newId("payload"), newId("payload")];
    for (const [id, pinned, bulk] of [
      [shared, null, bulkId],
      [own, unended, null],
    ])
      await pool.query(
        `INSERT INTO payload (id, project_id, pinned_id, bulk_id, kind, content, sha256, byte_length, created_at, expires_at)
       VALUES ($1, $2, $3, $4, 'request', '{}', '', 2, now(), now())`,
        [id, world.projectId, pinned, bulk],
      );
    const left = async () =>
      (
        await pool.query<{ id: string }>(
          "SELECT id FROM payload WHERE id = ANY($1) AND content IS NOT NULL ORDER BY id",
          [[shared, own]],
        )
      ).rows.map(({ id }) => id);
    await pruneAt(world, HOUR_MS);
    expect(await left()).toEqual([shared, own].sort());
    await pool.query("UPDATE pinned_execution SET status = 'canceled', completed_at = now() WHERE id = $1", [
      unended,
    ]);
    await pruneAt(world, HOUR_MS);
    expect(await left()).toEqual([shared]);
    await pool.query("UPDATE pinned_bulk SET status = 'partial', completed_at = now() WHERE id = $1", [
      bulkId,
    ]);
    await pruneAt(world, HOUR_MS);
    expect(await left()).toEqual([]);
  },
);

test("a project that shortens its retention shortens that of its stored pins, and no other project's", async () => {
  const [world, other] = [await makeProject(), await makeProject()];
  const ids: string[] = [];
  for (const each of [world, other]) ids.push((await pin(each, "Transient")).executionId);
  const managed = (await pin(world, "ProductManaged")).executionId;
  await changeProject(systemCtx("test"), { projectId: world.projectId, retentionDays: { Transient: 2 } });
  const days = async (id: string) => [
    ...new Set((await contentOf(id)).map((row) => Math.round(row.days ?? -1))),
  ];
  expect(await days(ids[0]!)).toEqual([2]);
  expect(await days(ids[1]!)).toEqual([30]);
  expect(await days(managed)).toEqual([180]);
  expect(await days((await pin(world, "Transient")).executionId)).toEqual([2]);
});
