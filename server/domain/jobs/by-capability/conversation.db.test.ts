import { expect, test } from "vitest";
import type { Conversation } from "@/server/capabilities/conversation";
import { getCapability } from "@/server/domain/catalog";
import * as jobs from "@/server/domain/jobs";
import { inlineStep, makeProject } from "@/testing/world";
import { admitDurable } from "../admission/admit";

/* A conversation with tool calls as a durable job, whose worker reads the conversation back from the row. */

const FAST = getCapability("text.general.fast.v1");
const conversation: Conversation = {
  turns: [
    { at: 1, toolCalls: [{ id: "call_1", name: "depth_of", arguments: '{"river":"Elbe"}' }] },
    { at: 2, toolCallId: "call_1" },
  ],
  settings: { seed: 3 },
};
const raw = {
  input: {
    messages: [
      { role: "user", content: "How deep is the Elbe?" },
      { role: "assistant", content: "" },
      { role: "user", content: "sixteen metres" },
    ],
  },
  toolSchemas: [{ type: "function", name: "depth_of", parameters: { type: "object" } }],
};

test("a durable job continues from the tool results in its conversation", async () => {
  const { ctx, clock } = await makeProject();
  const { jobId } = await admitDurable(ctx, FAST, raw, {
    idempotencyHeader: undefined,
    beside: { conversation },
  });
  await jobs.run(ctx, jobId, inlineStep(clock));
  const { typedOutput, status } = await jobs.result(ctx, jobId);
  expect({ typedOutput, status }).toMatchObject({
    status: "succeeded",
    typedOutput: { content: expect.stringContaining("sixteen metres") },
  });
});

test("a retry sends the same request with its conversation", async () => {
  const { ctx, clock } = await makeProject();
  const refused = { ...raw, preferredModel: "sandbox-refuse" };
  const { jobId } = await admitDurable(ctx, FAST, refused, {
    idempotencyHeader: undefined,
    beside: { conversation },
  });
  await jobs.run(ctx, jobId, inlineStep(clock));
  const again = await jobs.retry(ctx, jobId);
  const [first, second] = await Promise.all([jobs.request(ctx, jobId), jobs.request(ctx, again.jobId)]);
  expect(second.requestHash).toBe(first.requestHash);
  expect(second.request).toMatchObject({ conversation });
});

test("another conversation under the same key is a conflict", async () => {
  const { ctx } = await makeProject();
  await admitDurable(ctx, FAST, raw, { idempotencyHeader: "one-key", beside: { conversation } });
  const other = { ...conversation, settings: { seed: 4 } };
  const conflict = { code: "IdempotencyConflict" };
  await expect(
    admitDurable(ctx, FAST, raw, { idempotencyHeader: "one-key", beside: { conversation: other } }),
  ).rejects.toMatchObject(conflict);
  await expect(admitDurable(ctx, FAST, raw, { idempotencyHeader: "one-key" })).rejects.toMatchObject(
    conflict,
  );
});

test("a request with HashesOnly retention stores no conversation", async () => {
  const { ctx } = await makeProject();
  const context = { retentionRequirement: "HashesOnly" };
  const result = await jobs.invoke(
    ctx,
    FAST.key,
    { ...raw, context },
    { idempotencyHeader: undefined, door: { conversation } },
  );
  expect(await jobs.request(ctx, result.executionId)).toMatchObject({ request: null });
});
