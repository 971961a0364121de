import { describe, expect, test } from "vitest";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { bulkOf, itemsOf, plain, runBulk, submitBulk } from "@/testing/bulks";
import { makeProject } from "@/testing/world";

describe("submitting a bulk", () => {
  test("stores every item as queued, and sends and holds nothing", async () => {
    const project = await makeProject();
    const bulk = await pins.submitBulk(project.ctx, bulkOf(plain(5), { concurrency: 3 }));
    expect(bulk).toMatchObject({
      status: "accepted",
      nextAction: "poll",
      pollAfterSeconds: 4,
      concurrency: 3,
      itemCount: 5,
      counts: { queued: 5, running: 0, succeeded: 0, failed: 0, ambiguous: 0, canceled: 0 },
      items: plain(5).map((_, place) => ({
        id: `item-${place}`,
        status: "queued",
        receiptId: null,
        error: null,
      })),
      nextCursor: null,
    });
    expect(bulk.bulkId).toMatch(/^pblk_/);
    const items = await itemsOf(bulk.bulkId);
    expect(
      items.every(({ attempts, hold, records }) => attempts === null && hold === null && records === 0),
    ).toBe(true);
  });

  test("hashes each item like a single request with the same content", async () => {
    const project = await makeProject();
    const [input = ""] = plain(1);
    const bulkId = await submitBulk(project, [input]);
    const { items: _, ...request } = bulkOf([]);
    const single = await pins.run(project.ctx, { ...request, input });
    const { rows } = await pool.query("SELECT request_hash FROM pinned_execution WHERE bulk_id = $1", [
      bulkId,
    ]);
    expect(rows[0].request_hash).toBe(single.receipt.requestHash);
  });

  test("accepts bulkWait, which does not make another request", async () => {
    const project = await makeProject();
    const body = bulkOf(plain(1), { idempotencyKey: "k" });
    const first = await pins.submitBulk(project.ctx, body);
    const bulkWait = { timeoutSeconds: 3600 };
    expect((await pins.submitBulk(project.ctx, { ...body, bulkWait })).bulkId).toBe(first.bulkId);
  });

  test("answers the same key and request with the first bulk in its current state", async () => {
    const project = await makeProject();
    const body = bulkOf(plain(3), { idempotencyKey: "k" });
    const first = await pins.submitBulk(project.ctx, body);
    await runBulk(project, first.bulkId);
    const again = await pins.submitBulk(project.ctx, body);
    expect(again).toMatchObject({ bulkId: first.bulkId, status: "succeeded", nextAction: "stop" });
    const { rows } = await pool.query("SELECT count(*) AS n FROM pinned_bulk WHERE project_id = $1", [
      project.projectId,
    ]);
    expect(rows[0].n).toBe(1);
  });

  test("creates one bulk with its items once for twenty concurrent posts of one key", async () => {
    const project = await makeProject();
    const body = bulkOf(plain(7), { idempotencyKey: "race" });
    const answers = await Promise.all(Array.from({ length: 20 }, () => pins.submitBulk(project.ctx, body)));
    expect(new Set(answers.map(({ bulkId }) => bulkId)).size).toBe(1);
    const { rows } = await pool.query("SELECT count(*) AS n FROM pinned_execution WHERE project_id = $1", [
      project.projectId,
    ]);
    expect(rows[0].n).toBe(7);
  });

  test("refuses another request under the same key with a conflict that names the first bulk", async () => {
    const project = await makeProject();
    const { bulkId } = await pins.submitBulk(project.ctx, bulkOf(plain(2), { idempotencyKey: "k" }));
    await expect(
      pins.submitBulk(project.ctx, bulkOf(plain(3), { idempotencyKey: "k" })),
    ).rejects.toMatchObject({
      code: "IdempotencyConflict",
      details: { jobId: bulkId },
    });
  });

  test.each<[string, Record<string, unknown>, (string | number)[]]>([
    ["two items of one id", { items: [{ id: "a", input: "1" }, { id: "b", input: "2" }, { id: "a", input: "3" }] }, ["body", "items", 2, "id"]], // biome-ignore format: one case
    ["no items", { items: [] }, ["body", "items"]],
    [
      "10,001 items",
      { items: plain(10_001).map((input, place) => ({ id: `${place}`, input })) },
      ["body", "items"],
    ],
    ["no lanes", { concurrency: 0 }, ["body", "concurrency"]],
    ["65 lanes", { concurrency: 65 }, ["body", "concurrency"]],
    ["an unknown model", { pin: { provider: "sandbox", model: "sandbox-none", api: "responses" } }, ["body", "pin", "model"]], // biome-ignore format: one case
    ["a tool choice longer than any can be", { toolChoice: { name: "x".repeat(70_000) } }, ["body", "toolChoice"]], // biome-ignore format: one case
    ["an item without input", { items: [{ id: "a" }] }, ["body", "items", 0, "input"]],
  ])("refuses %s and writes nothing", async (_what, wrong, loc) => {
    const project = await makeProject();
    await expect(pins.submitBulk(project.ctx, bulkOf(plain(1), wrong as never))).rejects.toMatchObject({
      issues: [{ loc }],
    });
    const { rows } = await pool.query("SELECT count(*) AS n FROM pinned_bulk WHERE project_id = $1", [
      project.projectId,
    ]);
    expect(rows[0].n).toBe(0);
  });

  test("names the item whose input is too long", async () => {
    const project = await makeProject();
    const long = "word ".repeat(1_500_000);
    await expect(pins.submitBulk(project.ctx, bulkOf(["short", long]))).rejects.toMatchObject({
      code: "PromptTooLong",
      details: { field: "items[1].input" },
    });
  });
});

describe("reading a bulk", () => {
  test("returns each item once and in order over pages, even if items end in between", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(10));
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 4; page++) {
      const bulk = await pins.getBulk(project.ctx, bulkId, { limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...bulk.items.map(({ id }) => id));
      cursor = bulk.nextCursor ?? undefined;
      if (page === 1) await runBulk(project, bulkId);
    }
    expect(cursor).toBeUndefined();
    expect(seen).toEqual(plain(10).map((_, place) => `item-${place}`));
  });

  test("filters items by status but counts all of them", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, ["[refuse] no", ...plain(3), "[refuse] nor this"]);
    await runBulk(project, bulkId);
    const failed = await pins.getBulk(project.ctx, bulkId, { status: "failed" });
    expect(failed.items.map(({ id }) => id)).toEqual(["item-0", "item-4"]);
    expect(failed.counts).toMatchObject({ succeeded: 3, failed: 2 });
  });

  test("refuses an invalid cursor", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(1));
    for (const cursor of ["0", "-1", "x", "1e3"])
      await expect(pins.getBulk(project.ctx, bulkId, { cursor })).rejects.toMatchObject({
        issues: [{ loc: ["query", "cursor"] }],
      });
  });

  test("lists bulks newest first, without items, and only those that the caller may see", async () => {
    const [project, other] = [await makeProject(), await makeProject()];
    const first = await submitBulk(project, plain(1));
    const second = await submitBulk(project, plain(2));
    await submitBulk(other, plain(1));
    const page = await pins.listBulks(project.ctx, { limit: 1 });
    expect(page).toMatchObject({ items: [{ bulkId: second, itemCount: 2 }], nextCursor: second });
    const next = await pins.listBulks(project.ctx, { limit: 1, cursor: second });
    expect(next).toMatchObject({ items: [{ bulkId: first }], nextCursor: null });
    await expect(pins.getBulk(other.ctx, first)).rejects.toMatchObject({ code: "NotFound" });
  });
});
