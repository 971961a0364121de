import { expect, test } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import { inlineStep, makeProject } from "@/testing/world";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
/** Stores an input for later and returns its id. */
const store = async (ctx: Ctx, content: string) =>
  (await inputs.storePayload(ctx, ask(content), undefined)).payloadId;

const DOORS = [
  ["submit", jobs.submit],
  ["invoke", jobs.invoke],
] as const;
/** Sends this request under one key and returns the id of the record. */
async function send(door: (typeof DOORS)[number][1], ctx: Ctx, body: object): Promise<string> {
  const answer = await door(ctx, "text.general.fast.v1", { idempotencyKey: "k", ...body } as never); // as both accept it
  return "jobId" in answer ? answer.jobId : answer.executionId;
}

const countJobs = async (projectId: string) =>
  (
    await pool.query<{ jobs: number; holds: number; events: number }>(
      `SELECT (SELECT count(*) FROM job WHERE project_id = $1) AS jobs, (SELECT count(*) FROM hold WHERE project_id = $1) AS holds,
       (SELECT count(*) FROM job_event WHERE project_id = $1) AS events`,
      [projectId],
    )
  ).rows[0];

test("200 concurrent submits with one key make one job, one hold and one event, and all get the same id", async () => {
  const { ctx, projectId } = await makeProject();
  const submitted = await Promise.all(
    Array.from({ length: 200 }, () =>
      jobs.submit(ctx, "text.general.fast.v1", { input: ask("Once."), idempotencyKey: "one" }),
    ),
  );
  expect(new Set(submitted.map((job) => job.jobId)).size).toBe(1);
  expect(await countJobs(projectId)).toEqual({ jobs: 1, holds: 1, events: 1 });
});

test("the same key with another request is a conflict that names the first job and writes nothing", async () => {
  const { ctx, projectId } = await makeProject();
  const first = await jobs.submit(ctx, "text.general.fast.v1", { input: ask("A"), idempotencyKey: "k" });
  await expect(
    jobs.submit(ctx, "text.general.fast.v1", { input: ask("B"), idempotencyKey: "k" }),
  ).rejects.toMatchObject({
    code: "IdempotencyConflict",
    details: { jobId: first.jobId },
  });
  expect(await countJobs(projectId)).toEqual({ jobs: 1, holds: 1, events: 1 });
});

test("a request with members that 0.2.0 did not read finds the record that 0.2.0 stored under its key", async () => {
  const { ctx } = await makeProject();
  const key = "text.structured.generation.v1";
  const responseSchema = { type: "object", properties: { city: { type: "string" } } };
  const request = { input: ask("A"), responseSchema, idempotencyKey: "k" };
  const stored = await jobs.invoke(ctx, key, request);
  const named = { ...request, responseSchemaName: "thing" };
  const door = { newMembers: ["responseSchemaName"] };
  expect((await jobs.invoke(ctx, key, named, { door })).executionId).toBe(stored.executionId);
  const conflict = { code: "IdempotencyConflict", details: { jobId: stored.executionId } };
  await expect(jobs.invoke(ctx, key, named)).rejects.toMatchObject(conflict);
  await expect(jobs.invoke(ctx, key, { ...named, input: ask("B") }, { door })).rejects.toMatchObject(
    conflict,
  );
});

test("key order and the place of a constraint do not make a request different", async () => {
  const { ctx } = await makeProject();
  const one = await jobs.submit(ctx, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "A" }], maxOutputTokens: 9 },
    preferredModel: "sandbox-1",
    idempotencyKey: "k",
  });
  const two = await jobs.submit(ctx, "text.general.fast.v1", {
    idempotencyKey: "k",
    execution: { executionConstraints: { preferredModel: "sandbox-1" } },
    input: { maxOutputTokens: 9, messages: [{ content: "A", role: "user" }] },
  });
  expect(two.jobId).toBe(one.jobId);
});

test("empty options and the order of traits do not make a request different", async () => {
  const { ctx } = await makeProject();
  const traits = { maturityRating: "R", matureContentTraits: ["sexual_non_graphic", "graphic_violence"] };
  const send = (key: string, rest: object) =>
    jobs.submit(ctx, "text.general.fast.v1", { input: ask("a"), idempotencyKey: key, ...rest } as never);
  const first = await send("plain", {});
  for (const rest of [
    { sampling: {} },
    { sampling: { temperature: null } },
    { sampling: null, budget: {} },
    { budget: { enforcement: null }, toolSchemas: [] },
  ])
    expect((await send("plain", rest)).jobId).toBe(first.jobId);
  await expect(send("plain", { sampling: { temperature: 0 } })).rejects.toMatchObject({
    code: "IdempotencyConflict",
  });
  const rated = await send("rated", traits);
  const turned = { ...traits, matureContentTraits: traits.matureContentTraits.toReversed() };
  expect((await send("rated", turned)).jobId).toBe(rated.jobId);
});
test.each(DOORS)(
  "a replay of %s whose stored input is gone finds its record, and another request is a conflict",
  async (_, door) => {
    const { ctx, clock, projectId } = await makeProject();
    const [ref, same, other] = [await store(ctx, "A"), await store(ctx, "A"), await store(ctx, "B")];
    const context = { retentionRequirement: "HashesOnly" };
    const run = (more: object) => send(door, ctx, { inputPayloadRef: ref, context, ...more });
    const jobId = await run({});
    if (door === jobs.submit) await jobs.run(ctx, jobId, inlineStep(clock));
    clock.advance(8 * DAY_MS);
    for (const isPruned of [false, true]) {
      if (isPruned) await jobs.prune(ctx, { projectId });
      expect(await run({})).toBe(jobId);
      expect(await run({ inputPayloadRef: same })).toBe(jobId);
      expect(await run({ input: ask("A") })).toBe(jobId);
      expect(await run({ input: ask("A"), inputPayloadRef: null })).toBe(jobId);
      for (const another of [{ tags: ["b"] }, { inputPayloadRef: other }])
        await expect(run(another)).rejects.toMatchObject({ code: "IdempotencyConflict", details: { jobId } });
      for (const unknown of [
        { idempotencyKey: "new" },
        { input: ask("B") },
        { inputPayloadRef: newId("payload") },
      ])
        await expect(run(unknown)).rejects.toMatchObject({
          issues: [{ loc: ["body", "inputPayloadRef"], type: "not_found" }],
        });
    }
    expect(await countJobs(projectId)).toMatchObject({ jobs: 1 });
  },
);

test.each(DOORS)(
  "a replay of %s by a stored input that is gone finds the record of the same inline input while its content is kept",
  async (_, door) => {
    const { ctx, clock, projectId } = await makeProject();
    const [ref, other] = [await store(ctx, "A"), await store(ctx, "B")];
    const run = (body: object) => send(door, ctx, body);
    const jobId = await run({ input: ask("A") });
    if (door === jobs.submit) await jobs.run(ctx, jobId, inlineStep(clock));
    expect(await run({ inputPayloadRef: ref })).toBe(jobId);
    clock.advance(8 * DAY_MS);
    expect(await run({ inputPayloadRef: ref })).toBe(jobId);
    for (const another of [{ inputPayloadRef: other }, { inputPayloadRef: ref, tags: ["b"] }])
      await expect(run(another)).rejects.toMatchObject({ code: "IdempotencyConflict", details: { jobId } });
    // Without its content, the first request cannot be compared.
    await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1", [jobId]);
    await expect(run({ inputPayloadRef: ref })).rejects.toMatchObject({
      issues: [{ loc: ["body", "inputPayloadRef"], type: "not_found" }],
    });
    expect(await countJobs(projectId)).toMatchObject({ jobs: 1 });
  },
);

test("a replayed key returns its succeeded or canceled job", async () => {
  const { ctx, clock } = await makeProject();
  const body = { input: ask("A"), idempotencyKey: "k" };
  const { jobId } = await jobs.submit(ctx, "text.general.fast.v1", body);
  await jobs.run(ctx, jobId, inlineStep(clock));
  expect(await jobs.submit(ctx, "text.general.fast.v1", body)).toMatchObject({ jobId, status: "succeeded" });
  const canceled = await jobs.submit(ctx, "text.general.fast.v1", { ...body, idempotencyKey: "c" });
  await jobs.cancel(ctx, canceled.jobId);
  expect(await jobs.submit(ctx, "text.general.fast.v1", { ...body, idempotencyKey: "c" })).toMatchObject({
    jobId: canceled.jobId,
    status: "canceled",
  });
});

test("a key belongs to one project and one operation", async () => {
  const [a, b] = [await makeProject(), await makeProject()];
  const body = { input: ask("A"), idempotencyKey: "k" };
  const first = await jobs.submit(a.ctx, "text.general.fast.v1", body);
  const second = await jobs.submit(b.ctx, "text.general.fast.v1", body);
  const invoked = await jobs.invoke(a.ctx, "text.general.fast.v1", body);
  expect(new Set([first.jobId, second.jobId, invoked.executionId]).size).toBe(3);
});

test("a generated key and a key in the header are returned, and a header that differs from the body is refused", async () => {
  const { ctx } = await makeProject();
  expect((await jobs.submit(ctx, "text.general.fast.v1", ask("A"))).idempotencyKey).toMatch(
    /^job-[0-9a-f]{32}$/,
  );
  expect((await jobs.submit(ctx, "text.general.fast.v1", ask("A"), "from-header")).idempotencyKey).toBe(
    "from-header",
  );
  await expect(
    jobs.submit(ctx, "text.general.fast.v1", { input: ask("A"), idempotencyKey: "body" }, "header"),
  ).rejects.toMatchObject({
    issues: [{ loc: ["body", "idempotencyKey"] }],
  });
});

test("concurrent invokes with one key return one execution and one answer, from one attempt", async () => {
  const { ctx, projectId } = await makeProject();
  const body = { input: ask("Once more."), idempotencyKey: "k" };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => jobs.invoke(ctx, "text.general.fast.v1", body)),
  );
  expect(new Set(answers.map((answer) => answer.executionId)).size).toBe(1);
  expect(new Set(answers.map((answer) => JSON.stringify(answer.typedOutput))).size).toBe(1);
  const { rows } = await pool.query("SELECT count(*) AS n FROM attempt WHERE project_id = $1", [projectId]);
  expect(rows[0]).toEqual({ n: 1 });
});

test("a replayed invoke that failed fails the same way again", async () => {
  const { ctx } = await makeProject();
  const body = { input: ask("No."), preferredModel: "sandbox-refuse", idempotencyKey: "k" };
  const [first, second] = [
    await jobs.invoke(ctx, "text.general.fast.v1", body).catch((cause) => cause),
    await jobs.invoke(ctx, "text.general.fast.v1", body).catch((cause) => cause),
  ];
  expect(first).toMatchObject({ code: "ProviderRejected" });
  expect(second).toMatchObject({ code: "ProviderRejected", details: first.details });
});
