import { expect, test } from "vitest";
import { choices, content, run } from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { makeProject } from "@/testing/world";

const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };

test("a project may pin models of every interface, with connected ones first and the supported settings of each", async () => {
  const { ctx, projectId } = await makeProject();
  const found = await choices(ctx, projectId);
  const sandbox = found.find((choice) => choice.pin.model === "sandbox-1");
  expect(sandbox).toMatchObject({ pin, isConnected: true, canDefer: true });
  expect(sandbox?.sampling).toContain("temperature");
  expect(sandbox?.sampling).not.toContain("topK");
  const openai = found.filter((choice) => choice.pin.provider === "openai");
  expect(new Set(openai.map((choice) => choice.pin.api))).toEqual(new Set(["responses", "chat-completions"]));
  expect(openai.every(({ isConnected }) => !isConnected)).toBe(true);
  expect(found.findIndex(({ isConnected }) => !isConnected)).toBeGreaterThan(found.indexOf(sandbox!));
});

test("an offered setting runs, and a setting that is not offered is refused", async () => {
  const { ctx, projectId } = await makeProject();
  const sandbox = (await choices(ctx, projectId)).find((choice) => choice.pin.model === "sandbox-1");
  expect(sandbox?.sampling).toContain("seed");
  await expect(run(ctx, { pin, input: "Hello", sampling: { topK: 3 } })).rejects.toMatchObject({
    issues: [{ loc: ["body", "sampling", "topK"] }],
  });
  expect(await run(ctx, { pin, input: "Hello", sampling: { seed: 3 } })).toMatchObject({
    status: "succeeded",
  });
});

test("a tool choice may name every tool of a request, and a longer one is refused before its members are read", async () => {
  const { ctx } = await makeProject();
  const tools = Array.from({ length: 128 }, (_, at) => ({
    type: "function",
    name: `tool-${at}`.padEnd(64, "x"),
  }));
  const ask = (toolChoice: object) => run(ctx, { pin, input: "Hello", tools, toolChoice: { ...toolChoice } });
  expect(await ask({ type: "allowed_tools", mode: "auto", tools })).toMatchObject({ status: "succeeded" });
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, at]));
  for (const long of [many, { name: "x".repeat(65_536) }, { tools: Array(70_000).fill(1) }])
    await expect(ask(long)).rejects.toMatchObject({
      issues: [{ loc: ["body", "toolChoice"], type: "too_long", msg: "At most 65,536 characters as JSON." }],
    });
});

test("a record's request is shown unchanged while it is kept", async () => {
  const { ctx } = await makeProject();
  const asked = { instructions: "Briefly.", input: "Hello", sampling: { temperature: 0 } };
  const { receiptId, executionId } = await run(ctx, { pin, ...asked });
  expect(await content(ctx, receiptId)).toMatchObject({ record: { receiptId }, request: asked });
  expect((await content(ctx, receiptId)).request).toEqual(asked);
  await pool.query("UPDATE payload SET content = NULL WHERE pinned_id = $1 AND kind = 'request'", [
    executionId,
  ]);
  expect((await content(ctx, receiptId)).request).toBeNull();
});

test("a private request is shown decrypted, and under HashesOnly there is none", async () => {
  const { ctx } = await makeProject();
  const ask = (context: object) => run(ctx, { pin, input: "Secret", context: { ...context } });
  const sealed = await ask({ dataClassification: "PrivateUserContent" });
  expect((await content(ctx, sealed.receiptId)).request).toEqual({ input: "Secret" });
  const hashed = await ask({ retentionRequirement: "HashesOnly" });
  expect((await content(ctx, hashed.receiptId)).request).toBeNull();
});

test("another tenant's records and projects are not found", async () => {
  const [mine, theirs] = [await makeProject(), await makeProject()];
  const { receiptId } = await run(mine.ctx, { pin, input: "Mine" });
  await expect(content(theirs.ctx, receiptId)).rejects.toBeInstanceOf(Fault);
  await expect(choices(theirs.ctx, mine.projectId)).rejects.toBeInstanceOf(Fault);
});
