/** @module-tag long */
import { describe, expect, test, vi } from "vitest";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { itemsOf, mostAtOnce, plain, runBulk, seenBySandbox, submitBulk } from "@/testing/bulks";
import { startBulkProcess } from "@/testing/processes";
import { makeProject, makeProjectAtNoon, type TestProject } from "@/testing/world";
import { claimItems, takeBulk } from "./claims";
import { runStep } from "./run";

const PAST_LEASE_MS = 60_000;
const engineCtx = ({ clock }: TestProject) => systemCtx("test", clock.now);
const statuses = async (bulkId: string) => (await itemsOf(bulkId)).map(({ status }) => status);

describe("running a bulk", () => {
  test("a running bulk sends each item once and gives it a record and a charge", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(40), { concurrency: 8 });
    await runBulk(project, bulkId);
    const bulk = await pins.getBulk(project.ctx, bulkId);
    expect(bulk).toMatchObject({ status: "succeeded", nextAction: "stop", safelyRetryable: 0 });
    expect(bulk.counts).toEqual({
      queued: 0,
      running: 0,
      succeeded: 40,
      failed: 0,
      ambiguous: 0,
      canceled: 0,
    });
    const items = await itemsOf(bulkId);
    expect(items.every(({ hold, records }) => hold === "settled" && records === 1)).toBe(true);
    expect(await seenBySandbox(items)).toEqual(items.map(() => 1));
    expect(mostAtOnce(items)).toBeLessThanOrEqual(8);
    const record = await pins.get(project.ctx, bulk.items[7]!.receiptId!);
    expect(record).toMatchObject({ bulkId, itemId: "item-7", status: "succeeded", logicalAttempts: 1 });
    expect(record.schedulerWaitMs).toBeGreaterThanOrEqual(0);
    const { rows } = await pool.query(
      "SELECT sum(amount_micros) AS total FROM ledger_entry WHERE project_id = $1",
      [project.projectId],
    );
    expect(Number(rows[0].total)).toBe(0);
  });

  test("items of a bulk are independent: the outcome of one does not affect the others", async () => {
    const project = await makeProject();
    const inputs = ["[refuse] a", "b", "[fail] c", "[lost] d", "[empty] e", "f"];
    const bulkId = await submitBulk(project, inputs);
    await runBulk(project, bulkId);
    const bulk = await pins.getBulk(project.ctx, bulkId);
    expect(bulk.status).toBe("partial");
    expect(
      bulk.items.map(({ status, error, safelyRetryable }) => [status, error?.code ?? null, safelyRetryable]),
    ).toEqual([
      ["failed", "ProviderRejected", true],
      ["succeeded", null, false],
      ["failed", "PROVIDER_ERROR", false],
      ["ambiguous", "TRANSPORT_AMBIGUOUS", false],
      ["failed", "PROVIDER_EMPTY_OUTPUT", false],
      ["succeeded", null, false],
    ]);
    // The bulk and the record of an item agree on whether a retry is safe.
    for (const { receiptId, safelyRetryable } of bulk.items)
      expect((await pins.get(project.ctx, receiptId!)).safelyRetryable).toBe(safelyRetryable);
    expect(bulk.safelyRetryable).toBe(1);
  });

  test("a bulk fails if none of its items succeeded", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(3, "[refuse] "));
    await runBulk(project, bulkId);
    expect((await pins.getBulk(project.ctx, bulkId)).status).toBe("failed");
  });

  test("a bulk continues past a hanging item, also in later steps", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, ["[slow 15000] hangs", ...plain(30)], { concurrency: 2 });
    const taken = await takeBulk(bulkId, "test", project.clock.now());
    const held = { id: bulkId, fence: taken!.fence };
    await vi.waitFor(
      async () => {
        await runStep(engineCtx(project), held, { claimMs: 100 });
        expect((await statuses(bulkId)).filter((status) => status === "succeeded")).toHaveLength(30);
      },
      { timeout: 14_000, interval: 1 },
    );
    expect((await statuses(bulkId))[0]).toBe("running");
    await vi.waitFor(
      async () =>
        expect(await runStep(engineCtx(project), held, { claimMs: 100 })).toEqual({ state: "ended" }),
      {
        timeout: 40_000,
        interval: 10,
      },
    );
    expect((await statuses(bulkId))[0]).toBe("succeeded");
  });

  test("a bulk keeps two processes within the requested width, and close to it", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(120, "[slow 100] "), { concurrency: 12 });
    const taken = await takeBulk(bulkId, "test", project.clock.now());
    const workers = [1, 2].map(() => startBulkProcess(bulkId, taken!.fence));
    await Promise.all(workers.map(({ ended }) => ended));
    const items = await itemsOf(bulkId);
    expect(items.every(({ status }) => status === "succeeded")).toBe(true);
    expect(mostAtOnce(items)).toBeLessThanOrEqual(12);
    expect(mostAtOnce(items)).toBeGreaterThan(8);
    const { rows } = await pool.query(
      "SELECT count(DISTINCT lease_owner) AS n FROM pinned_execution WHERE bulk_id = $1",
      [bulkId],
    );
    expect(rows[0].n).toBe(0); // all leases were released
    expect(await seenBySandbox(items)).toEqual(items.map(() => 1));
  });

  test("the bulk's width limits concurrent claims in total", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(50), { concurrency: 7 });
    const { fence } = (await takeBulk(bulkId, "test", project.clock.now()))!;
    const claim = () =>
      claimItems(
        { id: bulkId, fence },
        { wanted: 5, owner: "test", leaseMs: 15_000, now: project.clock.now() },
      );
    const claimed = (await Promise.all(Array.from({ length: 10 }, claim))).flat();
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(claimed.length);
    expect(claimed).toHaveLength(7);
    expect(await claim()).toEqual([]);
  });

  test("a bulk lowers its width on a spike of refusals and raises it again as submissions are accepted", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, [...plain(16, "[busy 1] "), ...plain(400)], { concurrency: 16 });
    const seen: number[] = [];
    const watching = setInterval(
      () =>
        pool
          .query("SELECT lanes FROM pinned_bulk WHERE id = $1", [bulkId])
          .then(({ rows }) => seen.push(rows[0].lanes)),
      20,
    );
    await runBulk(project, bulkId).finally(() => clearInterval(watching));
    const bulk = await pins.getBulk(project.ctx, bulkId);
    expect(bulk.status).toBe("succeeded");
    expect(Math.min(...seen)).toBeLessThanOrEqual(8);
    expect(bulk.currentConcurrency).toBeGreaterThan(Math.min(...seen));
    const first = await pins.get(project.ctx, bulk.items[0]!.receiptId!);
    expect(first).toMatchObject({ capacityRejections: 1, providerSubmissions: 2, logicalAttempts: 1 });
  });

  test("a bulk ignores a wake that is repeated, late or after the end", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(20), { concurrency: 4 });
    await Promise.all([1, 2, 3].map(() => runBulk(project, bulkId)));
    await runBulk(project, bulkId);
    const items = await itemsOf(bulkId);
    expect(items.every(({ status, attempts, records }) => status === "succeeded" && attempts?.length === 1 && records === 1)).toBe(true); // biome-ignore format: one sentence
    expect((await pins.getBulk(project.ctx, bulkId)).status).toBe("succeeded");
  });
});

describe("a budget that runs out during a bulk", () => {
  test("an exhausted budget fails the remaining items with BudgetExceeded before they are sent, and is not overrun", async () => {
    const project = await makeProjectAtNoon();
    const bulkId = await submitBulk(project, plain(40), { concurrency: 4 });
    const { rows: bounds } = await pool.query(
      "SELECT max(maximum_micros) AS most FROM pinned_execution WHERE bulk_id = $1",
      [bulkId],
    );
    const ceiling = Number(bounds[0].most) * 6;
    await budgets.set(systemCtx("test", project.clock.now), {
      owner: { projectId: project.projectId },
      period: "total",
      enforcement: "prevent",
      ceilingMicros: ceiling,
    });
    await runBulk(project, bulkId);
    const bulk = await pins.getBulk(project.ctx, bulkId);
    expect(bulk.status).toBe("partial");
    const items = await itemsOf(bulkId);
    const refused = items.filter(({ error_code }) => error_code === "BudgetExceeded");
    expect(refused.length).toBeGreaterThan(5);
    expect(
      refused.every(({ attempts, hold, records }) => attempts === null && hold === null && records === 1),
    ).toBe(true);
    expect(items.length - refused.length).toBe(bulk.counts.succeeded);
    expect(bulk.safelyRetryable).toBe(refused.length);
    const { rows } = await pool.query("SELECT sum(settled_micros) AS spent FROM hold WHERE project_id = $1", [
      project.projectId,
    ]);
    expect(Number(rows[0].spent)).toBeLessThanOrEqual(ceiling);
  });
});

describe("canceling a bulk", () => {
  test("a cancel ends every item and fails the bulk at once if it has not run", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(5));
    const bulk = await pins.cancelBulk(project.ctx, bulkId);
    expect(bulk).toMatchObject({
      status: "failed",
      nextAction: "stop",
      counts: { canceled: 5 },
      safelyRetryable: 5,
    });
    expect(bulk.items[0]).toMatchObject({ status: "canceled", receiptId: null, safelyRetryable: true });
    await runBulk(project, bulkId);
    expect(await seenBySandbox(await itemsOf(bulkId))).toEqual([0, 0, 0, 0, 0]);
  });

  test("a cancel lets items under way end normally and cancels the rest, so the bulk is partial", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(20, "[slow 400] "), { concurrency: 3 });
    const running = runBulk(project, bulkId);
    await vi.waitFor(async () => expect(await statuses(bulkId)).toContain("running"), {
      timeout: 10_000,
      interval: 5,
    });
    const canceled = await pins.cancelBulk(project.ctx, bulkId);
    expect(canceled.cancelRequestedAt).not.toBeNull();
    expect(canceled.counts.queued).toBe(0);
    expect(await pins.cancelBulk(project.ctx, bulkId)).toMatchObject({ bulkId });
    await running;
    const bulk = await pins.getBulk(project.ctx, bulkId);
    expect(bulk.status).toBe("partial");
    expect(bulk.counts).toMatchObject({ queued: 0, running: 0, failed: 0, ambiguous: 0 });
    expect(bulk.counts.succeeded + bulk.counts.canceled).toBe(20);
    const items = await itemsOf(bulkId);
    expect(await seenBySandbox(items)).toEqual(items.map(({ status }) => (status === "succeeded" ? 1 : 0)));
  });

  test("a cancel is refused after the bulk has ended", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(1));
    await runBulk(project, bulkId);
    await expect(pins.cancelBulk(project.ctx, bulkId)).rejects.toMatchObject({
      code: "JobNotCancelable",
      details: { status: "succeeded" },
    });
  });

  test("a cancel also ends an item that is put back later", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(2), { concurrency: 1 });
    const { fence } = (await takeBulk(bulkId, "gone", project.clock.now()))!;
    await claimItems(
      { id: bulkId, fence },
      { wanted: 1, owner: "gone", leaseMs: 15_000, now: project.clock.now() },
    );
    await pins.cancelBulk(project.ctx, bulkId);
    expect(await statuses(bulkId)).toEqual(["running", "canceled"]);
    await project.pass(PAST_LEASE_MS);
    await pins.sweep(engineCtx(project), project);
    await runBulk(project, bulkId);
    expect(await statuses(bulkId)).toEqual(["canceled", "canceled"]);
    expect((await pins.getBulk(project.ctx, bulkId)).status).toBe("failed");
  });
});

describe("a bulk whose worker is gone", () => {
  test("a bulk without its worker puts claimed, unsent items back, is woken, and sends each item once", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(6), { concurrency: 4 });
    const { fence } = (await takeBulk(bulkId, "gone", project.clock.now()))!;
    await claimItems(
      { id: bulkId, fence },
      { wanted: 4, owner: "gone", leaseMs: 15_000, now: project.clock.now() },
    );
    expect(await takeBulk(bulkId, "too soon", project.clock.now())).toBeNull();
    await project.pass(PAST_LEASE_MS);
    await pins.sweep(engineCtx(project), project);
    expect(await statuses(bulkId)).toEqual(Array(6).fill("queued"));
    const { rows } = await pool.query("SELECT dispatch_number FROM pinned_bulk WHERE id = $1", [bulkId]);
    expect(rows[0].dispatch_number).toBe(2);
    await runBulk(project, bulkId);
    const items = await itemsOf(bulkId);
    expect(items.every(({ status }) => status === "succeeded")).toBe(true);
    expect(await seenBySandbox(items)).toEqual(items.map(() => 1));
  });

  test("a bulk without its worker ends items with begun submissions as ambiguous, never resends them, and finishes the others", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(20, "[slow 50] "), { concurrency: 4 });
    const { fence } = (await takeBulk(bulkId, "gone", project.clock.now()))!;
    const killed = startBulkProcess(bulkId, fence, "after-answer:0.2");
    expect(await killed.ended).toBe("SIGKILL");
    await project.pass(PAST_LEASE_MS);
    await pins.sweep(engineCtx(project), project);
    await runBulk(project, bulkId);
    const items = await itemsOf(bulkId);
    const lost = items.filter(({ status }) => status === "ambiguous");
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.every(({ hold, records, attempts }) => hold === "ambiguous" && records === 1 && attempts?.length === 1)).toBe(true); // biome-ignore format: one sentence
    expect(items.every(({ status }) => status === "ambiguous" || status === "succeeded")).toBe(true);
    expect((await seenBySandbox(items)).every((times) => times <= 1)).toBe(true);
    expect((await pins.getBulk(project.ctx, bulkId)).status).toBe("partial");
  });

  test("an item that was not sent within 1,200 seconds of its turn fails, and nothing is sent for it", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(2), { concurrency: 1 });
    const { fence } = (await takeBulk(bulkId, "gone", project.clock.now()))!;
    await claimItems(
      { id: bulkId, fence },
      { wanted: 1, owner: "gone", leaseMs: 15_000, now: project.clock.now() },
    );
    await project.pass(PAST_LEASE_MS);
    await pins.sweep(engineCtx(project), project);
    project.clock.advance(1_200_000);
    await runBulk(project, bulkId);
    const items = await itemsOf(bulkId);
    expect(items.map(({ status, error_code }) => [status, error_code])).toEqual([
      ["failed", "QueueTimeout"],
      ["succeeded", null],
    ]);
    expect(await seenBySandbox(items)).toEqual([0, 1]);
    expect((await pins.getBulk(project.ctx, bulkId)).items[0]).toMatchObject({ safelyRetryable: true });
  });

  test("a worker that lost the bulk claims nothing more", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(3));
    const before = (await takeBulk(bulkId, "gone", project.clock.now()))!;
    await project.pass(PAST_LEASE_MS);
    expect(await takeBulk(bulkId, "next", project.clock.now())).not.toBeNull();
    expect(await runStep(engineCtx(project), { id: bulkId, fence: before.fence })).toEqual({
      state: "ended",
    });
    expect(await statuses(bulkId)).toEqual(Array(3).fill("queued"));
  });
});

describe("retrying a bulk", () => {
  test("a retry submits only the items that are safe to resend, as a new bulk, and only once", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, ["[refuse] a", "b", "[lost] c", "[refuse] d"], {
      tags: ["nightly"],
    });
    await expect(pins.retrySafely(project.ctx, bulkId)).rejects.toMatchObject({ code: "RetryNotSafe" });
    await runBulk(project, bulkId);
    const retry = await pins.retrySafely(project.ctx, bulkId);
    expect(retry).toMatchObject({ retryOf: bulkId, status: "accepted", itemCount: 2 });
    expect(retry.items.map(({ id }) => id)).toEqual(["item-0", "item-3"]);
    expect((await pins.retrySafely(project.ctx, bulkId)).bulkId).toBe(retry.bulkId);
    const { rows } = await pool.query(
      "SELECT bulk_id, item_id, request_hash FROM pinned_execution WHERE bulk_id = ANY($1) AND item_id = 'item-3'",
      [[bulkId, retry.bulkId]],
    );
    expect(rows[0].request_hash).toBe(rows[1].request_hash);
  });

  test("a retry is refused if no item is safe to resend", async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(1));
    await runBulk(project, bulkId);
    await expect(pins.retrySafely(project.ctx, bulkId)).rejects.toMatchObject({ code: "RetryNotSafe" });
  });
});
