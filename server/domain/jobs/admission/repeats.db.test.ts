import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { openListener, pool } from "@/server/platform/db";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { setSettings } from "@/testing/settings";
import { makeProject, rowsOf, type TestProject } from "@/testing/world";

/*
 * Repeats of requests without an idempotency key: which execution each one joins, by the outcome of the
 * earlier one.
 */

const FAST = "text.general.fast.v1";
const PATH = `/v1/capabilities/${FAST}/invoke`;

type Sending = { retries?: number; path?: string; keyed?: string; from?: Ctx; seconds?: number };

/**
 * Sends a request without waiting for its answer, as the API does, to a model that follows the script in its
 * text.
 */
function send(project: TestProject, text: string, sending: Sending = {}) {
  const { retries = 0, path = PATH, keyed, from = project.ctx, seconds } = sending;
  const caller = new AbortController();
  const ctx: Ctx = {
    ...from,
    signal: () => caller.signal,
    ...(keyed ? {} : { unkeyed: { path, bodyHash: sha256Hex(text), retries, awaitsEnd: true } }),
  };
  const body = {
    input: { messages: [{ role: "user", content: text }] },
    execution: {
      executionConstraints: { preferredModel: "sandbox-mixed", maxDurationSeconds: seconds ?? null },
    },
  };
  const answer = jobs.invoke(ctx, FAST, body, { idempotencyHeader: keyed }).then(
    ({ executionId }) => ({ id: executionId, code: null, isReplay: ctx.isReplay }),
    (fault) => ({ id: fault.details.executionId as string, code: fault.code, isReplay: ctx.isReplay }),
  );
  return { ctx, answer, leave: () => caller.abort() };
}

type Row = { id: string; status: string; waiter_state: string | null; repeat_hash: string | null };
const executions = async ({ projectId }: TestProject) =>
  (
    await pool.query<Row>(
      "SELECT id, status, waiter_state, repeat_hash FROM job WHERE project_id = $1 ORDER BY id",
      [projectId],
    )
  ).rows;

/**
 * Waits until there are this many executions and, if `states` is given, until the first of them is in this
 * state.
 */
const begun = (project: TestProject, count: number, states?: string) =>
  expect
    .poll(async () => {
      const rows = await executions(project);
      return [rows.length, ...(states ? [rows[0]?.waiter_state] : [])];
    })
    .toEqual([count, ...(states ? [states] : [])]);

/** A unique text whose call takes this long. */
const slow = (ms = 1_500) => `[slow ${ms}] ${randomUUID()}?`;

describe("a repeat after an ambiguous outcome", () => {
  test("each repeat within the guard gets the ambiguous outcome, and none of them extends the guard", async () => {
    const project = await makeProject();
    const text = `[lost] ${randomUUID()}`;
    const first = await send(project, text).answer;
    expect(first).toMatchObject({ code: "TRANSPORT_AMBIGUOUS", isReplay: false });
    for (const retries of [0, 1, 6]) {
      project.clock.advance(35_000);
      expect(await send(project, text, { retries }).answer).toEqual({ ...first, isReplay: true });
    }
    project.clock.advance(16_000);
    const later = await send(project, text).answer;
    expect(later).toMatchObject({ code: "TRANSPORT_AMBIGUOUS", isReplay: false });
    expect(later.id).not.toBe(first.id);
  });

  test("a repeat of a call that reached its time limit gets the same outcome", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const text = slow(9_000);
    const first = await send(project, text, { seconds: 5 }).answer;
    expect(first).toMatchObject({ code: "ExecutionTimeout", isReplay: false });
    expect(await send(project, text, { seconds: 5 }).answer).toEqual({ ...first, isReplay: true });
  });

  test("a request with another path, API key or body, or with an idempotency key, is a new execution", async () => {
    const project = await makeProject();
    const text = `[lost] ${randomUUID()}`;
    const { id } = await send(project, text).answer;
    const other = (principal: object): Ctx => ({
      ...project.ctx,
      principal: { ...project.ctx.principal, ...principal } as Ctx["principal"],
    });
    for (const sending of [
      { path: "/v1/chat/completions" },
      { from: other({ id: "key_other" }) },
      { keyed: "a" },
      { keyed: "b" },
    ]) {
      const answer = await send(project, text, sending).answer;
      expect(answer).toMatchObject({ isReplay: false });
      expect(answer.id).not.toBe(id);
    }
    expect((await send(project, `${text}?`).answer).id).not.toBe(id);
    expect((await send(project, text).answer).id).toBe(id);
  });

  test("no repeat gets the outcome if the guard is off", async () => {
    setSettings({ REPEAT_GUARD_SECONDS: 0 });
    const project = await makeProject();
    const text = `[lost] ${randomUUID()}`;
    const ids = [await send(project, text).answer, await send(project, text).answer].map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("a repeat after a definite end", () => {
  test.each(["[refuse]", "[fail]"])("a repeat after %s is a new execution", async (script) => {
    const project = await makeProject();
    const text = `${script} ${randomUUID()}`;
    const first = await send(project, text).answer;
    const second = await send(project, text, { retries: 1 }).answer;
    expect(second).toMatchObject({ code: first.code, isReplay: false });
    expect(second.id).not.toBe(first.id);
    expect((await executions(project)).map(({ repeat_hash }) => repeat_hash)).toEqual([null, null]);
  });

  test("an answer that was written completely is not replayed", async () => {
    const project = await makeProject();
    const text = randomUUID();
    const first = await send(project, text).answer;
    expect((await send(project, text, { retries: 1 }).answer).id).not.toBe(first.id);
    expect((await executions(project)).map(({ repeat_hash }) => repeat_hash)).toEqual([null, null]);
  });
});

describe("a repeat of a running request", () => {
  test("an equal request sent at the same time does not join", async () => {
    const project = await makeProject();
    const text = slow(300);
    const both = await Promise.all([send(project, text).answer, send(project, text).answer]);
    expect(new Set(both.map(({ id }) => id)).size).toBe(2);
    expect(both.map(({ isReplay }) => isReplay)).toEqual([false, false]);
  });

  test("one repeat joins a request whose caller left, and another joins when that one leaves", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const text = slow();
    const first = send(project, text);
    await begun(project, 1);
    first.leave();
    await begun(project, 1, "left");
    const joined = send(project, text);
    await begun(project, 1, "waiting");
    const beside = send(project, text);
    await begun(project, 2);
    joined.leave();
    await begun(project, 2, "left");
    const again = await send(project, text).answer;
    const { id } = await first.answer;
    expect(again).toEqual({ id, code: null, isReplay: true });
    expect(await joined.answer).toEqual({ id, code: null, isReplay: true });
    expect((await beside.answer).id).not.toBe(id);
    expect(await executions(project)).toHaveLength(2);
  });

  test("exactly one of two simultaneous repeats joins", { tags: "long" }, async () => {
    const project = await makeProject();
    const text = slow();
    const first = send(project, text);
    await begun(project, 1);
    first.leave();
    await begun(project, 1, "left");
    const two = await Promise.all([send(project, text).answer, send(project, text).answer]);
    expect(two.filter(({ isReplay }) => isReplay)).toEqual([
      { id: (await first.answer).id, code: null, isReplay: true },
    ]);
    expect(await executions(project)).toHaveLength(2);
  });

  test("two users' equal requests that were both cut off are each joined once", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const text = slow();
    const users = [send(project, text), send(project, text)];
    await begun(project, 2);
    for (const user of users) user.leave();
    await expect
      .poll(async () => (await executions(project)).map((row) => row.waiter_state))
      .toEqual(["left", "left"]);
    const again = await Promise.all(users.map(() => send(project, text).answer));
    expect(again.every(({ isReplay }) => isReplay)).toBe(true);
    expect(new Set(again.map(({ id }) => id)).size).toBe(2);
    expect(await executions(project)).toHaveLength(2);
  });

  test("a client that declares a retry joins, once per declared retry", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const text = slow();
    const first = send(project, text);
    await begun(project, 1);
    const second = send(project, text, { retries: 1 });
    const third = send(project, text, { retries: 1 });
    await begun(project, 2);
    const fourth = send(project, text, { retries: 2 });
    const ids = await Promise.all(
      [first, second, third, fourth].map(async ({ answer }) => (await answer).id),
    );
    expect(new Set(ids).size).toBe(2);
    expect(await executions(project)).toHaveLength(2);
  });

  test("a repeat joins if the lease is lost, or if it is not renewed for 3 s and the process is unknown, and no worker takes over", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    for (const [process, leaseMs, isJoined] of [
      [null, 13_000, false],
      [null, 11_000, true],
      ["4711", -1_000, true],
    ] as const) {
      const text = slow(1_000);
      const before = (await executions(project)).length;
      const first = send(project, text);
      await begun(project, before + 1);
      const id = (await executions(project)).at(-1)?.id;
      const isHeld = process !== null && (await holdLock(process));
      await pool.query("UPDATE job SET lease_until = $2, waiter_process = $3 WHERE id = $1", [
        id,
        new Date(project.ctx.now().getTime() + leaseMs),
        process,
      ]);
      const repeat = await send(project, text).answer;
      expect([repeat.isReplay, repeat.id === id]).toEqual([isJoined, isJoined]);
      expect(await first.answer).toMatchObject({ id, code: null });
      expect((await rowsOf(id ?? "")).job.fence).toBe(1);
      if (isHeld) await isHeld.end();
    }
  });

  test("a repeat joins once the lock of the request's process is free, and not before", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const lock = await holdLock("4712");
    const text = slow();
    const first = send(project, text);
    await begun(project, 1);
    await pool.query("UPDATE job SET waiter_process = 4712 WHERE project_id = $1", [project.projectId]);
    const beside = send(project, text);
    await begun(project, 2);
    await lock.end();
    await expect
      .poll(async () => (await pool.query("SELECT FROM pg_locks WHERE objid = 4712")).rowCount)
      .toBe(0);
    const repeat = await send(project, text).answer;
    expect(repeat).toEqual({ id: (await first.answer).id, code: null, isReplay: true });
    expect((await beside.answer).isReplay).toBe(false);
  });
});

/** Holds the lock of a process, which then appears to be alive. */
async function holdLock(number: string) {
  const client = openListener("test");
  await client.connect();
  await client.query("SELECT pg_advisory_lock($1)", [number]);
  return client;
}

describe("a repeat of a success that did not reach its caller", () => {
  test("one client that declares a retry gets the success, within the guard and while its content is kept", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const lost = async () => {
      const text = slow(500);
      const before = (await executions(project)).length;
      const first = send(project, text);
      await begun(project, before + 1);
      first.leave();
      const { id } = await first.answer;
      await expect.poll(async () => (await rowsOf(id)).job.repeat_hash).not.toBeNull();
      return { text, id };
    };
    const one = await lost();
    expect(await send(project, one.text, { retries: 1 }).answer).toEqual({
      id: one.id,
      code: null,
      isReplay: true,
    });
    expect((await send(project, one.text, { retries: 1 }).answer).isReplay).toBe(false);

    const plain = await lost();
    expect((await send(project, plain.text).answer).isReplay).toBe(false);

    const gone = await lost();
    await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1", [gone.id]);
    expect((await send(project, gone.text, { retries: 1 }).answer).isReplay).toBe(false);

    const late = await lost();
    project.clock.advance(121_000);
    expect((await send(project, late.text, { retries: 1 }).answer).isReplay).toBe(false);
  });

  test("a repeat gets the success if the caller left while its answer was being written", async () => {
    const project = await makeProject();
    const text = randomUUID();
    const first = send(project, text);
    const { id } = await first.answer;
    first.leave();
    await expect.poll(async () => (await rowsOf(id)).job.waiter_state).toBe("left");
    expect(await send(project, text, { retries: 1 }).answer).toEqual({ id, code: null, isReplay: true });
  });
});

describe("a repeat of a request that was answered before its end", () => {
  test("a repeat waits for the same work, or gets its end if that came first", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    for (const waits of [true, false]) {
      const text = slow(600);
      const before = (await executions(project)).length;
      const first = send(project, text);
      await begun(project, before + 1);
      await expect.poll(() => first.ctx.unkeyed?.answeredEarly).toBeDefined();
      await first.ctx.unkeyed?.answeredEarly?.();
      if (!waits) await first.answer;
      expect(await send(project, text).answer).toEqual({
        id: (await first.answer).id,
        code: null,
        isReplay: true,
      });
      expect((await send(project, text).answer).isReplay).toBe(false);
    }
  });
});

test("a repeat joins even if the wallet has no free balance", { tags: "long" }, async () => {
  const project = await makeProject();
  const text = slow();
  const first = send(project, text);
  await begun(project, 1);
  first.leave();
  await begun(project, 1, "left");
  await pool.query("UPDATE wallet SET balance_micros = held_micros WHERE organization_id = $1", [
    project.organizationId,
  ]);
  expect(await send(project, text).answer).toEqual({
    id: (await first.answer).id,
    code: null,
    isReplay: true,
  });
});

test("a repeat joins a submission only if its caller left before it read the job's id", async () => {
  const project = await makeProject();
  const body = { input: { messages: [{ role: "user", content: randomUUID() }] } };
  const submit = async (leaves: boolean) => {
    const caller = new AbortController();
    if (leaves) caller.abort();
    const unkeyed = { path: "/jobs", bodyHash: sha256Hex(canonicalText(body)), retries: 0, awaitsEnd: false };
    const ctx: Ctx = { ...project.ctx, signal: () => caller.signal, unkeyed };
    return { jobId: (await jobs.submit(ctx, FAST, body)).jobId, isReplay: ctx.isReplay };
  };
  const answered = await submit(false);
  const first = await submit(true);
  expect(first.jobId).not.toBe(answered.jobId);
  await expect.poll(async () => (await rowsOf(first.jobId)).job.waiter_state).toBe("left");
  expect(await submit(false)).toEqual({ jobId: first.jobId, isReplay: true });
  expect((await submit(false)).isReplay).toBe(false);
});

test("pruning clears the repeat hash of a job that is too old to be joined", async () => {
  const project = await makeProject();
  await send(project, `[lost] ${randomUUID()}`).answer;
  const hashes = async () => (await executions(project)).map(({ repeat_hash }) => repeat_hash);
  await jobs.prune(systemCtx("prune", project.clock.now), { projectId: project.projectId });
  expect(await hashes()).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  project.clock.advance(121_000);
  await jobs.prune(systemCtx("prune", project.clock.now), { projectId: project.projectId });
  expect(await hashes()).toEqual([null]);
});
