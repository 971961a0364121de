import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "@/server/platform/durable/step";
import { type Sandbox, startSandbox } from "./server";

const dataDir = mkdtempSync(join(tmpdir(), "sandbox-"));
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, dataDir, slowMs: 30 });
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(dataDir, { recursive: true });
});

const text = (model: string, more: Record<string, Json> = {}) => ({
  model,
  messages: [{ role: "user", content: "Name three rivers of Europe, please." }],
  responseFormat: { type: "text" },
  ...more,
});
const post = async (path: string, body: unknown, attemptId: string) => {
  const response = await fetch(sandbox.url + path, {
    method: "POST",
    headers: { "x-attempt-id": attemptId },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: Answer.parse(await response.json()) };
};
const Answer = z.looseObject({
  text: z.string().optional(),
  finishReason: z.string().optional(),
  usage: z.record(z.string(), z.number()).optional(),
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.string() })).optional(),
});
const Arrived = z.object({
  at: z.iso.datetime(),
  attemptId: z.string(),
  model: z.string(),
  port: z.string(),
  tier: z.string(),
  inHand: z.int(),
});
const submissions = async (attemptId: string) => {
  const response = await fetch(`${sandbox.url}/submissions?attemptId=${attemptId}`);
  return z
    .object({
      count: z.int(),
      submissions: z.array(Arrived),
      refusals: z.array(Arrived),
    })
    .parse(await response.json());
};

describe("answers", () => {
  test("the same request gets the same answer, and another model uses other words", async () => {
    const first = await post("/v1/text", text("sandbox-1"), "same-1");
    const second = await post("/v1/text", text("sandbox-1"), "same-2");
    const other = await post("/v1/text", text("sandbox-2"), "same-3");
    expect(first.body).toEqual(second.body);
    expect(first.body.text).toMatch(/rivers/);
    expect(other.body.text).not.toBe(first.body.text);
  });

  test("tokens are UTF-8 bytes divided by four, rounded up", async () => {
    const { body } = await post(
      "/v1/text",
      text("sandbox-1", { messages: [{ role: "user", content: "αβγδε" }] }),
      "tokens",
    );
    expect(body.usage).toEqual({
      inputTokens: 3,
      outputTokens: Math.ceil(Buffer.byteLength(body.text ?? "") / 4),
      reasoningTokens: 0,
    });
  });

  test("an answer is cut at the token limit, between characters", async () => {
    const question = text("sandbox-1", {
      messages: [{ role: "user", content: "Überschwänglichkeitsäußerungen" }],
    });
    const whole = (await post("/v1/text", question, "cut")).body.text ?? "";
    for (let cap = 1; cap <= 30; cap += 1) {
      const { body } = await post("/v1/text", { ...question, maxOutputTokens: cap }, "cut");
      expect(Buffer.byteLength(body.text ?? "")).toBeLessThanOrEqual(cap * 4);
      expect(whole.startsWith(body.text ?? "?")).toBe(true);
      expect(body.finishReason).toBe(body.text === whole ? "stop" : "length");
      expect(body.usage?.outputTokens).toBeLessThanOrEqual(cap);
    }
  });

  test("reasoning costs tokens, within the limit", async () => {
    const { body } = await post("/v1/text", text("sandbox-1", { reasoningIntent: "deep" }), "reason");
    expect(body.usage?.reasoningTokens).toBe(256);
    const capped = await post(
      "/v1/text",
      text("sandbox-1", { reasoningIntent: "deep", maxOutputTokens: 100 }),
      "reason",
    );
    expect(capped.body.usage?.outputTokens).toBe(100);
  });

  test("a request for JSON gets JSON, and an offered tool gets a call", async () => {
    const object = await post(
      "/v1/text",
      text("sandbox-1", { responseFormat: { type: "json_object" } }),
      "json",
    );
    expect(JSON.parse(object.body.text ?? "")).toMatchObject({ answer: expect.any(String) });
    const schema = {
      type: "object",
      properties: { rivers: { type: "array", items: { type: "string" }, minItems: 3 } },
      required: ["rivers"],
    };
    const shaped = await post(
      "/v1/text",
      text("sandbox-1", { responseFormat: { type: "json_schema", name: "answer", schema } }),
      "json",
    );
    expect(JSON.parse(shaped.body.text ?? "").rivers.length).toBeGreaterThanOrEqual(3);
    const tool = {
      type: "function",
      function: {
        name: "find",
        parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
      },
    };
    const called = await post("/v1/text", text("sandbox-1", { tools: [tool] }), "json");
    expect(called.body.finishReason).toBe("tool_calls");
    expect(JSON.parse(called.body.toolCalls?.[0]?.arguments ?? "")).toEqual({ q: expect.any(String) });
  });
});

describe("the submission log", () => {
  test.each([
    ["sandbox-1", 200, 1],
    ["sandbox-slow", 200, 1],
    ["sandbox-empty", 200, 1],
    ["sandbox-fail", 500, 1],
    ["sandbox-refuse", 400, 0],
    ["sandbox-unknown", 404, 0],
  ])("%s answers %i and leaves %i lines", async (model, status, count) => {
    const answer = await post("/v1/text", text(model), `log-${model}`);
    expect(answer.status).toBe(status);
    const logged = await submissions(`log-${model}`);
    expect(logged.count).toBe(count);
    if (count > 0)
      expect(logged.submissions[0]).toMatchObject({ attemptId: `log-${model}`, model, port: "text" });
  });

  test("sandbox-busy answers 429 twice per attempt and then succeeds, and only the success is a submission", async () => {
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1)
      statuses.push((await post("/v1/text", text("sandbox-busy"), "busy-1")).status);
    expect(statuses).toEqual([429, 429, 200, 200]);
    const other = await post("/v1/text", text("sandbox-busy"), "busy-2");
    expect([other.status, other.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await submissions("busy-1")).count).toBe(2);
    expect((await submissions("busy-2")).count).toBe(0);
  });

  test("sandbox-mixed behaves as each question or a system message says, and otherwise answers", async () => {
    const ask = (words: string, attemptId: string) =>
      post("/v1/text", text("sandbox-mixed", { messages: [{ role: "user", content: words }] }), attemptId);
    for (const _ of [1, 2, 3]) expect((await ask("[busy 3] And now?", "mixed-1")).status).toBe(429);
    expect((await ask("[busy 3] And now?", "mixed-1")).status).toBe(200);
    expect((await ask("[refuse] This?", "mixed-2")).status).toBe(400);
    expect((await ask("[fail] This?", "mixed-3")).status).toBe(500);
    expect((await ask("[empty] This?", "mixed-4")).body.text).toBe("");
    await expect(ask("[lost] This?", "mixed-5")).rejects.toThrow();
    expect((await ask("Plainly?", "mixed-6")).status).toBe(200);
    const said = ["[fail]", "Plainly?"].map((content, at) => ({
      role: at === 0 ? "system" : "user",
      content,
    }));
    expect((await post("/v1/text", text("sandbox-mixed", { messages: said }), "mixed-9")).status).toBe(500);
    const answered: string[] = [];
    const slow = ask("[slow 1000] This?", "mixed-7").then(({ status }) => answered.push(`slow ${status}`));
    const plain = ask("Plainly?", "mixed-8").then(({ status }) => answered.push(`plain ${status}`));
    await Promise.all([slow, plain]);
    expect(answered).toEqual(["plain 200", "slow 200"]);
  });

  test("each submission records the number of requests in progress", async () => {
    const ask = (n: number) =>
      post(
        "/v1/text",
        text("sandbox-mixed", { messages: [{ role: "user", content: `[slow 100] ${n}` }] }),
        "hand",
      );
    await Promise.all([1, 2, 3].map(ask));
    await ask(4);
    const { submissions: kept } = await submissions("hand");
    expect(kept.map(({ inHand }) => inHand)).toEqual([1, 2, 3, 1]);
  });

  test("the tier of every request is logged, accepted or not, and changes no words", async () => {
    const flex = (model: string, attemptId: string) =>
      post("/v1/text", text(model, { tier: "flex" }), attemptId);
    expect((await flex("sandbox-flexless", "flexless-1")).status).toBe(400);
    const standard = await post("/v1/text", text("sandbox-flexless"), "flexless-1");
    expect([standard.status, standard.body.tier]).toEqual([200, "standard"]);
    const seen = await submissions("flexless-1");
    expect(seen.refusals.map(({ tier }) => tier)).toEqual(["flex"]);
    expect(seen.submissions.map(({ tier }) => tier)).toEqual(["standard"]);

    const statuses = [];
    for (let call = 0; call < 3; call += 1)
      statuses.push((await flex("sandbox-flexbusy", "flexbusy-1")).status);
    expect(statuses).toEqual([429, 429, 200]);
    expect((await submissions("flexbusy-1")).refusals).toHaveLength(2);

    const waited = await flex("sandbox-1", "flex-1");
    const atOnce = await post("/v1/text", text("sandbox-1"), "flex-2");
    expect(waited.body.text).toBe(atOnce.body.text);
    expect([waited.body.tier, atOnce.body.tier]).toEqual(["flex", "standard"]);
    expect((await flex("sandbox-flexquiet", "flex-3")).body.tier).toBe("standard");
  });

  test("sandbox-lost logs the request as accepted and sends no answer", async () => {
    await expect(post("/v1/text", text("sandbox-lost"), "lost-1")).rejects.toThrow();
    expect((await submissions("lost-1")).count).toBe(1);
  });

  test("a request that does not fit the port, or asks for the impossible, is not a submission", async () => {
    const impossible = text("sandbox-1", {
      responseFormat: {
        type: "json_schema",
        name: "x",
        schema: { allOf: [{ type: "null" }, { type: "integer" }] },
      },
    });
    for (const body of ["no json", {}, text("sandbox-1", { messages: [] }), impossible]) {
      expect((await post("/v1/text", body, "bad-1")).status).toBe(400);
    }
    const { count, refusals } = await submissions("bad-1");
    expect([count, refusals.length]).toEqual([0, 1]); // the impossible request, which was understood
  });

  test("a thousand concurrent requests have left a thousand lines once all are answered", {
    tags: "long",
  }, async () => {
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      post("/v1/text", text("sandbox-1"), `many-${index % 500}`),
    );
    await Promise.all(calls);
    const lines = readFileSync(join(dataDir, "submissions.ndjson"), "utf8").trim().split("\n");
    expect(lines.filter((line) => line.includes('"many-')).length).toBe(1_000);
    const report = await (await fetch(`${sandbox.url}/submissions`)).json();
    expect(report).toMatchObject({ total: lines.length });
    expect(JSON.stringify(report)).toContain('{"attemptId":"many-7","count":2}');
  });

  test("the log survives a restart, and a line torn by a crash", async () => {
    await post("/v1/text", text("sandbox-1"), "before");
    await sandbox.stop();
    appendFileSync(join(dataDir, "submissions.ndjson"), '{"at":"20');
    sandbox = await startSandbox({ port: 0, dataDir, slowMs: 30 });
    await post("/v1/text", text("sandbox-1"), "after");
    expect([(await submissions("before")).count, (await submissions("after")).count]).toEqual([1, 1]);
  });
});

describe("the server", () => {
  test("the image port draws images, and none with sandbox-empty", async () => {
    const image = {
      prompt: "sea",
      width: 256,
      height: 256,
      quality: "low",
      count: 2,
      transparent: false,
      referenceImages: [],
    };
    const drawn = await post("/v1/image", { model: "sandbox-1", ...image }, "image-1");
    expect(drawn.body.images).toHaveLength(2);
    const none = await post("/v1/image", { model: "sandbox-empty", ...image }, "image-2");
    expect(none.body.images).toEqual([]);
    expect((await submissions("image-1")).submissions[0]?.port).toBe("image");
  });

  test("the health page answers, and other pages are not found", async () => {
    expect(await (await fetch(`${sandbox.url}/healthz`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${sandbox.url}/other`)).status).toBe(404);
    expect((await fetch(`${sandbox.url}/v1/other`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${sandbox.url}/v1/text`, { method: "DELETE" })).status).toBe(405);
  });
});
