import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { openListener, pool } from "@/server/platform/db";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { setSettings } from "@/testing/settings";
import { makeProject, rowsOf, type TestProject } from "@/testing/world";

/* Repeats of requests without an idempotency key: who is joined to what, by what became of the earlier one. */

const FAST = "text.general.fast.v1";
const PATH = `/v1/capabilities/${FAST}/invoke`;

type Sending = { retries?: number; path?: string; keyed?: string; from?: Ctx; seconds?: number };

/** Sends a request as a door does, to a model that does as its text says, without waiting for its answer. */
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
  const answer = jobs.invoke(ctx, FAST, body, keyed).then(
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

/** Waits until so many executions are there and, where it is asked for, the first of them is in this state. */
const begun = (project: TestProject, count: number, states?: string) =>
  expect
    .poll(async () => {
      const rows = await executions(project);
      return [rows.length, ...(states ? [rows[0]?.waiter_state] : [])];
    })
    .toEqual([count, ...(states ? [states] : [])]);

/** The same text each time, of a call that takes its time. */
const slow = (ms = 1_500) => `[slow ${ms}] ${randomUUID()}?`;

describe("an ambiguous outcome", () => {
  test("is what each repeat gets within the guard, and none of them makes it last longer", async () => {
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

  test("of a call that ran into its limit is one, since the provider may have done the work", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const text = slow(9_000);
    const first = await send(project, text, { seconds: 5 }).answer;
    expect(first).toMatchObject({ code: "ExecutionTimeout", isReplay: false });
    expect(await send(project, text, { seconds: 5 }).answer).toEqual({ ...first, isReplay: true });
  });

  test("is of the same key, project, environment, path and body alone; a new idempotency key is a new execution", async () => {
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

  test("is no one's where the guard is off", async () => {
    setSettings({ REPEAT_GUARD_SECONDS: 0 });
    const project = await makeProject();
    const text = `[lost] ${randomUUID()}`;
    const ids = [await send(project, text).answer, await send(project, text).answer].map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("a definite end", () => {
  test.each(["[refuse]", "[fail]"])("as of %s is no outcome of the repeat, which runs", async (script) => {
    const project = await makeProject();
    const text = `${script} ${randomUUID()}`;
    const first = await send(project, text).answer;
    const second = await send(project, text, { retries: 1 }).answer;
    expect(second).toMatchObject({ code: first.code, isReplay: false });
    expect(second.id).not.toBe(first.id);
    expect((await executions(project)).map(({ repeat_hash }) => repeat_hash)).toEqual([null, null]);
  });

  test("of an answer that was written out whole is not replayed", async () => {
    const project = await makeProject();
    const text = randomUUID();
    const first = await send(project, text).answer;
    expect((await send(project, text, { retries: 1 }).answer).id).not.toBe(first.id);
    expect((await executions(project)).map(({ repeat_hash }) => repeat_hash)).toEqual([null, null]);
  });
});

describe("a request that still runs", () => {
  test("is not joined by an equal one sent beside it", async () => {
    const project = await makeProject();
    const text = slow(300);
    const both = await Promise.all([send(project, text).answer, send(project, text).answer]);
    expect(new Set(both.map(({ id }) => id)).size).toBe(2);
    expect(both.map(({ isReplay }) => isReplay)).toEqual([false, false]);
  });

  test("is joined when its caller left, by one repeat; when that one leaves, by another", {
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

  test("is joined by one of two repeats sent at once", { tags: "long" }, async () => {
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

  test("is joined by a client that says it repeats, once for each time it says so", {
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

  test("is joined when its lease is lost, or not renewed for 3 s where its process is not known, and taken over by no one", {
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

  test("is joined as soon as the lock of its process is free, and not before", { tags: "long" }, async () => {
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

/** A process that lives, as far as its lock says. */
async function holdLock(number: string) {
  const client = openListener("test");
  await client.connect();
  await client.query("SELECT pg_advisory_lock($1)", [number]);
  return client;
}

describe("a success that did not reach its caller", () => {
  test("is replayed to one client that says it repeats, within the guard, while its content is kept", {
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

  test("is replayed where it left while its answer was written, after the end", async () => {
    const project = await makeProject();
    const text = randomUUID();
    const first = send(project, text);
    const { id } = await first.answer;
    first.leave();
    await expect.poll(async () => (await rowsOf(id)).job.waiter_state).toBe("left");
    expect(await send(project, text, { retries: 1 }).answer).toEqual({ id, code: null, isReplay: true });
  });
});

describe("an answer without the end", () => {
  test("lets a repeat wait for the same work, and read its end when that came meanwhile", {
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

test("a repeat that no budget or plan has room for is joined all the same", { tags: "long" }, async () => {
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

test("a submission is joined when its caller left before it read its job's id, and not for its process's sake", async () => {
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

test("what is too old to be joined is forgotten with other content", async () => {
  const project = await makeProject();
  await send(project, `[lost] ${randomUUID()}`).answer;
  const hashes = async () => (await executions(project)).map(({ repeat_hash }) => repeat_hash);
  await jobs.prune(systemCtx("prune", project.clock.now), { projectId: project.projectId });
  expect(await hashes()).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  project.clock.advance(121_000);
  await jobs.prune(systemCtx("prune", project.clock.now), { projectId: project.projectId });
  expect(await hashes()).toEqual([null]);
});
