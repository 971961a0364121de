import { expect, test } from "vitest";
import { run, submitBulk } from "@/server/domain/pins";
import { newId } from "@/server/platform/ids";
import { makePerson } from "@/testing/tenants";
import { makeProject } from "@/testing/world";
import { appRouter } from "../index";

const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };

test("private content of a record stays on the server until a reader requests it", async () => {
  const world = await makeProject();
  const { ctx } = await makePerson(world.organizationId, "viewer");
  const panel = appRouter.createCaller(ctx);
  const words = "a phrase no one else would write";
  const { receiptId } = await run(world.ctx, {
    pin,
    input: words,
    includeNativeResponse: true,
    context: { dataClassification: "PrivateUserContent" },
  });
  const whole = await panel.pinned.content({ receipt_id: receiptId });
  expect(whole.request).toEqual({ input: words });
  const answer = whole.record.output?.text ?? "";
  expect(answer).not.toBe("");
  const shown = JSON.stringify([
    await panel.pinned.get({ receipt_id: receiptId }),
    await panel.pinned.list({ projectId: world.projectId }),
  ]);
  expect(shown).toContain(whole.record.recordHash);
  for (const secret of [words, answer, 'nativeResponse":']) expect(shown).not.toContain(secret);
});

test("a form runs in the project of its page, whatever its body says, and a viewer runs nothing", async () => {
  const [world, other] = [await makeProject(), await makeProject()];
  const { ctx: member } = await makePerson(world.organizationId, "member");
  const { ctx: viewer } = await makePerson(world.organizationId, "viewer");
  const ask = {
    project_id: world.projectId,
    body: { pin, input: "Hello", context: { projectId: other.projectId } },
  };
  const { receipt } = await appRouter.createCaller(member).pinned.run(ask);
  expect(receipt).toMatchObject({ projectId: world.projectId, principalKind: "human_session" });
  await expect(appRouter.createCaller(viewer).pinned.run(ask)).rejects.toMatchObject({ code: "FORBIDDEN" });
  const { items } = await appRouter.createCaller(viewer).pinned.list({ projectId: world.projectId });
  expect(items.map(({ receiptId }) => receiptId)).toEqual([receipt.receiptId]);
});

test("a viewer reads bulks, and can neither cancel nor retry one", async () => {
  const world = await makeProject();
  const { bulkId } = await submitBulk(world.ctx, { pin, items: [{ id: "one", input: "Hello" }] });
  const { ctx } = await makePerson(world.organizationId, "viewer");
  const panel = appRouter.createCaller(ctx);
  const { items } = await panel.pinned.bulks({ projectId: world.projectId });
  expect(items.map((bulk) => bulk.bulkId)).toEqual([bulkId]);
  expect(await panel.pinned.bulk({ bulk_id: bulkId })).toMatchObject({ bulkId, itemCount: 1 });
  for (const change of [panel.pinned.cancelBulk, panel.pinned.retryBulk])
    await expect(change({ bulk_id: bulkId })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("another tenant's records and missing ones are refused alike", async () => {
  const [mine, theirs] = [await makeProject(), await makeProject()];
  const { receiptId } = await run(theirs.ctx, { pin, input: "Theirs" });
  const { ctx } = await makePerson(mine.organizationId, "owner");
  const panel = appRouter.createCaller(ctx);
  for (const receipt_id of [receiptId, newId("receipt")]) {
    await expect(panel.pinned.get({ receipt_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(panel.pinned.content({ receipt_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});
