import { randomUUID } from "node:crypto";
import OpenAI from "openai";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { incoming, jsonOf, withoutRequestId } from "@/testing/requests";
import { setSettings } from "@/testing/settings";
import { inlineStep, testClock } from "@/testing/world";
import { endpoint, reply, respond } from "./endpoint";
import { base } from "./endpoint.fixture";

/* Clients that repeat a request whose response was lost, against a running server; most of them send no idempotency key. */

const FAST = "text.general.fast.v1";
const INVOKE = `/v1/capabilities/${FAST}/invoke`;
const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";

let server: WebServer;
let tenant: Tenant;
beforeAll(async () => {
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
});
afterAll(() => server.stop(1_000));

/** Each test gets its own tenant. */
const makeOne = async () => {
  tenant = await makeTenant();
};

const executions = async () =>
  (
    await pool.query<{ id: string; waiter_state: string | null }>(
      "SELECT id, waiter_state FROM job WHERE project_id = $1 ORDER BY id",
      [tenant.projectId],
    )
  ).rows;
const states = async () => (await executions()).map(({ waiter_state }) => waiter_state);

type Headers = Record<string, string>;
const post = (path: string, body: unknown, headers: Headers = {}, signal?: AbortSignal) =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

/** A question for each endpoint, to a sandbox model that follows a script: `[lost] …` loses the response. */
const question = (path: string, script: string) => {
  const content = `${script} ${randomUUID()}?`;
  if (path === INVOKE)
    return {
      input: { messages: [{ role: "user", content }] },
      execution: { executionConstraints: { preferredModel: "sandbox-mixed" } },
    };
  const model = `${FAST}@sandbox/sandbox-mixed`;
  return path === CHAT ? { model, messages: [{ role: "user", content }] } : { model, input: content };
};

describe("a vendor that loses every answer", () => {
  test.each([
    ["AI SDK: two retries, of every 5xx, without a word", [{}, {}, {}]],
    [
      "LangChain: six retries of a client that says each is its first",
      Array(7).fill({ "x-stainless-retry-count": "0" }),
    ],
    [
      "a client that says which it is",
      ["0", "1", "2"].map((count) => ({ "x-stainless-retry-count": count })),
    ],
  ])("the vendor is asked once for one call of %s", async (_, attempts: Headers[]) => {
    for (const path of [CHAT, RESPONSES, INVOKE]) {
      await makeOne();
      const body = question(path, "[lost]");
      const answers = [];
      for (const headers of attempts) answers.push(await post(path, body, headers));
      expect(answers.map(({ status }) => status)).toEqual(attempts.map(() => 502));
      const replays = answers.map(({ headers }) => headers.get("x-idempotent-replay"));
      expect(replays).toEqual(attempts.map((_each, place) => (place === 0 ? null : "true")));
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      expect(new Set(texts.map(withoutRequestId)).size).toBe(1);
      const { rows } = await pool.query("SELECT state FROM hold WHERE project_id = $1", [tenant.projectId]);
      expect(rows).toEqual([{ state: "ambiguous" }]);
    }
  });

  test("the vendor is asked once for one call of OpenAI's unmodified client, without its own retries", async () => {
    await makeOne();
    const messages = [{ role: "user" as const, content: `[lost] ${randomUUID()}` }];
    for (const more of [{}, { maxRetries: 0 }]) {
      const client = new OpenAI({ apiKey: tenant.key, baseURL: `${server.url}/v1`, ...more });
      await expect(
        client.chat.completions.create({ model: `${FAST}@sandbox/sandbox-mixed`, messages }),
      ).rejects.toMatchObject({ status: 502, code: "TRANSPORT_AMBIGUOUS" });
    }
    expect(await executions()).toHaveLength(1);
  });
});

describe("a caller that disconnects", () => {
  test.each(campaign.inTurn([CHAT, RESPONSES, INVOKE], 1))(
    "a caller that disconnects from %s and retries gets the answer of the one execution",
    async (path) => {
      await makeOne();
      const body = question(path, "[slow 1500]");
      const caller = new AbortController();
      const first = post(path, body, {}, caller.signal).catch(() => "cut");
      await expect.poll(states).toEqual(["waiting"]);
      caller.abort();
      expect(await first).toBe("cut");
      await expect.poll(states).toEqual(["left"]);
      const again = await post(path, body);
      const [execution] = await executions();
      expect([
        again.status,
        again.headers.get("x-idempotent-replay"),
        again.headers.get("x-execution-id"),
      ]).toEqual([200, "true", execution?.id]);
      expect(await executions()).toHaveLength(1);
    },
  );

  test.each(campaign.inTurn([CHAT, RESPONSES], 0))(
    "a caller that disconnects during a stream on %s and retries gets the whole stream",
    async (path) => {
      await makeOne();
      const model = `${FAST}@sandbox/sandbox-slow`;
      const content = `Write 12 sentences about ${randomUUID()}.`;
      const body =
        path === CHAT
          ? { model, messages: [{ role: "user", content }], stream: true }
          : { model, input: content, stream: true };
      const caller = new AbortController();
      const first = await post(path, body, {}, caller.signal);
      const reader = first.body?.getReader();
      await reader?.read();
      caller.abort();
      await expect.poll(states).toEqual(["left"]);
      const again = await post(path, body);
      expect(again.headers.get("x-idempotent-replay")).toBe("true");
      const text = await again.text();
      expect(text).toContain(path === CHAT ? "[DONE]" : "response.completed");
      const [execution] = await executions();
      expect(text).toContain(execution?.id);
      expect(await executions()).toHaveLength(1);
    },
  );
});

test("equal bodies sent at the same time, with one key or two, are separate executions", async () => {
  await makeOne();
  const body = question(CHAT, "[slow 300]");
  const mine = await Promise.all([post(CHAT, body), post(CHAT, body), post(CHAT, body)]);
  expect(mine.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(mine.map(({ headers }) => headers.get("x-idempotent-replay"))).toEqual([null, null, null]);
  expect(await executions()).toHaveLength(3);
  const lost = question(CHAT, "[lost]");
  await post(CHAT, lost);
  for (const key of ["one", "two"]) await post(CHAT, lost, { "idempotency-key": key });
  expect(await executions()).toHaveLength(6);
  // A request with a key is replayed as before, and reports it.
  const again = await post(CHAT, lost, { "idempotency-key": "two" });
  expect(again.headers.get("x-idempotent-replay")).toBe("true");
  expect(await executions()).toHaveLength(6);
});

test("a retry after 429 or 503 with nothing sent is a new execution", { tags: "long" }, async () => {
  await makeOne();
  const constrained = {
    ...question(INVOKE, "[busy 99]"),
    execution: { executionConstraints: { preferredModel: "sandbox-mixed", maxDurationSeconds: 5 } },
  };
  const first = await post(INVOKE, constrained);
  expect(first.status).toBe(503);
  const second = await post(INVOKE, constrained, { "x-stainless-retry-count": "1" });
  expect([second.status, second.headers.get("x-idempotent-replay")]).toEqual([503, null]);
  expect(await executions()).toHaveLength(2);
});

describe("a picture that takes 150 seconds, on an endpoint that waits for 120", () => {
  /**
   * An endpoint that begins a durable job, waits for the job as long as `waits` allows, and answers 504 if that is too short.
   */
  const door = (waits: () => boolean) =>
    endpoint({
      ...base,
      auth: ["service_principal"],
      body: base.output.loose(),
      idempotent: true,
      run: async (ctx) => {
        const input = { prompt: "A lighthouse." };
        let job = await jobs.submit(ctx, "image.generate.v1", { input });
        while (waits() && job.status !== "succeeded") {
          await new Promise((resolve) => setTimeout(resolve, 20));
          job = await jobs.get(ctx, job.jobId, "capabilities:run");
        }
        const isEnded = job.status === "succeeded";
        return reply({ seen: job.jobId }, { status: isEnded ? 200 : 504 });
      },
    });

  test("the picture is drawn once, whether its caller retries before or after that", {
    tags: "long",
  }, async () => {
    for (const asksAgain of ["before", "after"]) {
      await makeOne();
      const clock = testClock();
      const ask = (waits: boolean) =>
        respond(
          door(() => waits),
          incoming({ key: tenant.key, body: { seen: "a lighthouse" }, params: { thing_id: "1" } }),
        );
      const first = await ask(false);
      expect(first.status).toBe(504);
      const jobId = jsonOf(first).seen;
      const draw = () => jobs.run(systemCtx("worker", clock.now), jobId, inlineStep(clock));
      if (asksAgain === "after") await draw();
      const again = ask(true);
      if (asksAgain === "before") {
        await expect.poll(states).toEqual(["waiting"]);
        await draw();
      }
      const { status, headers } = await again;
      expect([status, headers["x-idempotent-replay"], jsonOf(await again).seen]).toEqual([
        200,
        "true",
        jobId,
      ]);
      expect(await executions()).toHaveLength(1);
    }
  });
});

describe("statements of the repeat guard", () => {
  /** The names of the statements that a request executes. */
  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const query = vi.spyOn(pg.Client.prototype, "query");
    try {
      await work();
      return (
        (query.mock.calls as unknown as [pg.QueryConfig | string][])
          .map(([asked]) => (typeof asked === "string" ? asked : (asked.name ?? asked.text)).slice(0, 40))
          // Leaves out statements that run at their own times: of change notices, of a key's last use, of route health and of
          // the signing key.
          .filter((name) => !/^(news\.|WITH use AS|SELECT (account, route|id, private_key))/.test(name))
          .sort()
      );
    } finally {
      query.mockRestore();
    }
  }

  test("a request that matches no earlier one executes as many statements as without the guard", {
    tags: "long",
  }, async () => {
    await makeOne();
    for (const path of [CHAT, RESPONSES, INVOKE]) {
      const ask = (script: string) => () =>
        post(path, question(path, script)).then((answer) => answer.text());
      for (const script of ["", "[refuse]", "[fail]"]) {
        await ask(script)(); // a first request, so that cached reads are not counted
        const guarded = await statementsOf(ask(script));
        expect(guarded).toContain("admit-one");
        setSettings({ REPEAT_GUARD_SECONDS: 0 });
        expect(await statementsOf(ask(script))).toEqual(guarded);
        setSettings({ REPEAT_GUARD_SECONDS: 120 });
      }
    }
    const noFunds = await makeTenant({ walletMicros: 0 });
    tenant = noFunds;
    const refused = () => post(INVOKE, question(INVOKE, "")).then(({ status }) => expect(status).toBe(402));
    await refused();
    const guarded = await statementsOf(refused);
    setSettings({ REPEAT_GUARD_SECONDS: 0 });
    expect((await statementsOf(refused)).length).toBe(guarded.length);
  });
});
