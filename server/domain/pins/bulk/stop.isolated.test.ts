/** @module-tag long */
import { expect, test, vi } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import { itemsOf, plain, submitBulk } from "@/testing/bulks";
import { makeProject } from "@/testing/world";
import { takeBulk } from "./claims";
import { stopClaiming } from "./run";

// This test has its own file, because a process that is stopping claims nothing in later tests.
test("a stopping process claims no further items in any copy of its modules, and its bulk stays open for another process", async () => {
  const project = await makeProject();
  const bulkId = await submitBulk(project, plain(60, "[slow 300] "), { concurrency: 4 });
  const { fence } = (await takeBulk(bulkId, "test", project.clock.now()))!;
  vi.resetModules();
  const copy = await import("./run");
  expect(copy.stopClaiming).not.toBe(stopClaiming);
  const step = copy.runStep(systemCtx("test", project.clock.now), { id: bulkId, fence });
  const statuses = async () => (await itemsOf(bulkId)).map(({ status }) => status);
  await vi.waitFor(async () => expect(await statuses()).toContain("succeeded"), {
    timeout: 20_000,
    interval: 10,
  });
  stopClaiming();
  expect(await step).toEqual({ state: "again", afterMs: 0 });
  await vi.waitFor(async () => expect(await statuses()).not.toContain("running"), {
    timeout: 20_000,
    interval: 10,
  });
  const ended = (await statuses()).filter((status) => status === "succeeded").length;
  expect(await copy.runStep(systemCtx("test", project.clock.now), { id: bulkId, fence })).toEqual({
    state: "again",
    afterMs: 0,
  });
  const after = await statuses();
  expect(after.filter((status) => status === "succeeded")).toHaveLength(ended);
  expect(after.filter((status) => status === "queued")).toHaveLength(60 - ended);
});
