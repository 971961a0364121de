import type OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pool } from "@/server/platform/db";
import { receiptIdOf } from "@/server/platform/ids";
import { makeTenant } from "@/testing/api";
import { refusal, serveOpenAI } from "./client.fixture";

/* OpenAI's own client, unmodified, against a running server: only the address and the key are ours. */

const FAST = "text.general.fast.v1";
const question = [{ role: "user" as const, content: "How deep are the rivers?" }];

const world = serveOpenAI();

const executions = async () => {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*) AS count FROM job WHERE project_id = $1",
    [world.tenant.projectId],
  );
  return rows[0]?.count;
};

describe("chat completions", () => {
  test("an answer has the id, the receipt and the tokens of its execution", async () => {
    const { data, response } = await world.client.chat.completions
      .create({
        model: FAST,
        messages: [{ role: "developer", content: "Be brief." }, ...question],
        temperature: 0.5,
        max_completion_tokens: 200,
        reasoning_effort: "low",
        metadata: { ticket: "7" },
        user: "somebody",
        n: 1,
      })
      .withResponse();
    expect(data).toMatchObject({
      id: expect.stringMatching(/^wfr_/),
      object: "chat.completion",
      model: "sandbox/sandbox-1",
      choices: [
        {
          index: 0,
          finish_reason: "stop",
          message: { role: "assistant", content: expect.stringContaining("rivers"), refusal: null },
        },
      ],
    });
    expect(Math.abs(data.created - Date.now() / 1000)).toBeLessThan(60);
    const receiptId = receiptIdOf(data.id);
    expect(response.headers.get("x-capstan-receipt-id")).toBe(receiptId);
    expect(response.headers.get("x-execution-id")).toBe(data.id);
    expect(response.headers.get("ratelimit-limit")).toMatch(/^\d+$/);
    expect(data).toMatchObject({ metadata: { ticket: "7", capstan_receipt_id: receiptId } });
    const { usage } = data;
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    const job = (await world.tenant.get(`/v1/jobs/${data.id}`)).json;
    expect(job).toMatchObject({ status: "succeeded", capabilityKey: FAST, metadata: { ticket: "7" } });
    const request = (await world.tenant.get(`/v1/jobs/${data.id}/request`)).json;
    expect(JSON.stringify(request)).toContain('"temperature":0.5');
    expect((await world.tenant.get(`/v1/jobs/${data.id}/receipt`)).json).toMatchObject({ receiptId });
  });

  test("a stream has the same text in pieces, and reports its tokens on request", async () => {
    const whole = await world.client.chat.completions.create({ model: FAST, messages: question });
    const stream = await world.client.chat.completions.create({
      model: FAST,
      messages: question,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    const id = chunks[0]?.id ?? "";
    expect((await world.tenant.get(`/v1/jobs/${id}/receipt`)).json).toMatchObject({
      receiptId: receiptIdOf(id),
    });
  });

  test("the client's own stream helper reassembles a stream", async () => {
    const runner = world.client.chat.completions.stream({ model: FAST, messages: question });
    const { choices } = await runner.finalChatCompletion();
    expect(choices[0]?.message.content).toContain("rivers");
  });

  test("a reader that disconnects does not end the execution, which is recorded", {
    tags: "long",
  }, async () => {
    const stream = await world.client.chat.completions.create({
      model: `${FAST}@sandbox/sandbox-slow`,
      messages: [{ role: "user", content: "Write 40 sentences about rivers." }],
      stream: true,
    });
    let id = "";
    for await (const chunk of stream) {
      id = chunk.id;
      if (chunk.choices[0]?.delta.content) {
        stream.controller.abort();
        break;
      }
    }
    // The events end with the execution.
    const events = await fetch(`${world.server.url}/v1/jobs/${id}/events`, {
      headers: { authorization: `Bearer ${world.tenant.key}`, accept: "text/event-stream" },
    });
    expect(await events.text()).toContain("job.succeeded");
    expect((await world.tenant.get(`/v1/jobs/${id}`)).json.status).toBe("succeeded");
    expect((await world.tenant.get(`/v1/jobs/${id}/receipt`)).status).toBe(200);
  });

  test("tools are offered, and the client reads the model's calls", async () => {
    const tools = [
      {
        type: "function" as const,
        function: {
          name: "depth_of",
          description: "The depth of a river.",
          parameters: {
            type: "object",
            properties: { river: { type: "string" } },
            required: ["river"],
            additionalProperties: false,
          },
        },
      },
    ];
    const { choices } = await world.client.chat.completions.create({
      model: FAST,
      messages: question,
      tools,
    });
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: null, tool_calls: [{ type: "function", function: { name: "depth_of" } }] },
    });
    const call = choices[0]?.message.tool_calls?.[0];
    if (call?.type !== "function") throw new Error("no function was called");
    expect(typeof JSON.parse(call.function.arguments).river).toBe("string");
    const runner = world.client.chat.completions.stream({ model: FAST, messages: question, tools });
    const streamed = (await runner.finalChatCompletion()).choices[0];
    expect(streamed?.finish_reason).toBe("tool_calls");
    const none = await world.client.chat.completions.create({
      model: FAST,
      messages: question,
      tools,
      tool_choice: "none",
    });
    expect(none.choices[0]?.message.tool_calls).toBeUndefined();
  });

  test("the client's helper gets structured output, with a schema and as any object", async () => {
    const Answer = z.object({ name: z.string(), metres: z.number() });
    for (const model of [FAST, "text.structured.generation.v1"]) {
      const { choices } = await world.client.chat.completions.parse({
        model,
        messages: question,
        response_format: zodResponseFormat(Answer, "answer"),
      });
      const parsed = choices[0]?.message.parsed;
      expect(Answer.parse(parsed)).toEqual(parsed);
    }
    const object = await world.client.chat.completions.create({
      model: FAST,
      messages: question,
      response_format: { type: "json_object" },
    });
    expect(typeof JSON.parse(object.choices[0]?.message.content ?? "")).toBe("object");
  });

  test("a picture as data reaches capabilities that answer conversations, and a picture's URL is refused", async () => {
    const url =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    const ask = (model: string, address = url) =>
      world.client.chat.completions.create({
        model,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What colour is this?" },
              { type: "image_url", image_url: { url: address } },
            ],
          },
        ],
      });
    const { choices } = await ask("text.vision.structured.v1");
    expect(choices[0]?.message.content).toContain("picture");
    expect((await ask(FAST)).choices[0]?.message.content).toContain("picture");
    for (const model of [FAST, "text.vision.structured.v1"]) {
      const remote = await refusal(ask(model, "https://example.com/a.png"));
      expect(remote).toMatchObject({ status: 422, param: "messages[0].content[1]" });
    }
  });

  test("a model is named with its capability or on its own", async () => {
    for (const model of ["sandbox/sandbox-2", "text.reasoning.high.v1@sandbox/sandbox-2"]) {
      const { model: answered, id } = await world.client.chat.completions.create({
        model,
        messages: question,
      });
      expect(answered).toBe("sandbox/sandbox-2");
      const { json } = await world.tenant.get(`/v1/jobs/${id}`);
      expect(json.capabilityKey).toBe(model.includes("@") ? "text.reasoning.high.v1" : FAST);
    }
  });

  test("the same Idempotency-Key returns the same execution, streamed too, and another request under the key is 409", async () => {
    const headers = { "Idempotency-Key": "a-key" };
    const ask = (content: string) =>
      world.client.chat.completions.create(
        { model: FAST, messages: [{ role: "user", content }] },
        { headers },
      );
    const first = await ask("One");
    const before = await executions();
    expect(await ask("One")).toEqual(first);
    const conflict = await refusal(ask("Two"));
    expect(conflict).toMatchObject({
      status: 409,
      code: "IdempotencyConflict",
      type: "invalid_request_error",
    });
    expect(await executions()).toBe(before);
    const said: string[] = [];
    for (const _ of [1, 2]) {
      const stream = await world.client.chat.completions.create(
        { model: FAST, messages: question, stream: true },
        { headers: { "Idempotency-Key": "a-stream" } },
      );
      let text = "";
      for await (const { id, choices } of stream)
        text += `${text ? "" : id}${choices[0]?.delta.content ?? ""}`;
      said.push(text);
    }
    expect(said[0]).toContain("rivers");
    expect(said[1]).toBe(said[0]);
  });

  test("a key of a whole organization needs the client's project, which must be one of the organization's", async () => {
    const unbound = await refusal(
      world.clientOf(world.tenant.unboundKey).chat.completions.create({ model: FAST, messages: question }),
    );
    expect(unbound).toMatchObject({ status: 422, code: "PROJECT_REQUIRED" });
    const named = world.clientOf(world.tenant.unboundKey, { project: world.tenant.otherProjectId });
    expect((await named.chat.completions.create({ model: FAST, messages: question })).id).toMatch(/^wfr_/);
    expect((await named.models.list()).data.length).toBeGreaterThan(5);
    const stranger = await makeTenant();
    const foreign = world.clientOf(world.tenant.unboundKey, { project: stranger.projectId });
    expect((await refusal(foreign.chat.completions.create({ model: FAST, messages: question }))).status).toBe(
      403,
    );
    expect((await refusal(foreign.models.list())).status).toBe(403);
  });
});

describe("responses", () => {
  test("an answer has its text, its tokens and its receipt", async () => {
    const response = await world.client.responses.create({
      model: FAST,
      instructions: "Be brief.",
      input: "How deep are the rivers?",
      metadata: { ticket: "8" },
      max_output_tokens: 300,
    });
    expect(response).toMatchObject({ object: "response", status: "completed", model: "sandbox/sandbox-1" });
    expect(response.output_text).toContain("rivers");
    expect(response.metadata).toEqual({ ticket: "8", capstan_receipt_id: receiptIdOf(response.id) });
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
    // The output can be sent back unchanged.
    const next = await world.client.responses.create({
      model: FAST,
      input: [
        { role: "user", content: "How deep are the rivers?" },
        ...response.output,
        { role: "user", content: [{ type: "input_text", text: "And the lakes?" }] },
      ] as OpenAI.Responses.ResponseInput,
    });
    expect(next.output_text).toContain("lakes");
  });

  test("a stream has its events in order, and the client reassembles it", async () => {
    const stream = await world.client.responses.create({
      model: FAST,
      input: "How deep are the rivers?",
      stream: true,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, place) => place));
    const types = [...new Set(events.map(({ type }) => type))];
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const final = await world.client.responses
      .stream({ model: FAST, input: "How deep are the rivers?" })
      .finalResponse();
    expect(final.output_text).toContain("rivers");
    expect(final.usage?.total_tokens).toBeGreaterThan(0);
  });

  test("the client reads tool calls, streamed too, and structured output", async () => {
    const tool = {
      type: "function" as const,
      name: "depth_of",
      strict: true,
      parameters: {
        type: "object",
        properties: { river: { type: "string" } },
        required: ["river"],
        additionalProperties: false,
      },
    };
    const asked = { model: FAST, input: "How deep are the rivers?", tools: [tool] };
    const { output } = await world.client.responses.create(asked);
    expect(output).toMatchObject([{ type: "function_call", name: "depth_of", status: "completed" }]);
    const streamed = await world.client.responses.stream(asked).finalResponse();
    expect(streamed.output).toMatchObject([{ type: "function_call", name: "depth_of" }]);
    const Answer = z.object({ name: z.string() });
    const { output_parsed } = await world.client.responses.parse({
      model: "text.structured.generation.v1",
      input: "How deep are the rivers?",
      text: { format: zodTextFormat(Answer, "answer") },
    });
    expect(Answer.parse(output_parsed)).toEqual(output_parsed);
  });

  test("a stream that fails before its text has the status of the same request without one", async () => {
    const asked = { model: `${FAST}@sandbox/sandbox-fail`, input: "Anything" };
    const statusOf = (sent: Promise<unknown>) =>
      sent.then(() => 200).catch(({ status, code }) => [status, code]);
    const whole = await statusOf(world.client.responses.create(asked));
    expect(whole).toEqual([502, "PROVIDER_ERROR"]);
    expect(await statusOf(world.client.responses.create({ ...asked, stream: true }))).toEqual(whole);
  });
});

describe("models", () => {
  test("the list has capabilities and the models that the key can use", async () => {
    const ids: string[] = [];
    for await (const { id, object } of world.client.models.list()) {
      expect(object).toBe("model");
      ids.push(id);
    }
    expect(ids).toContain(FAST);
    expect(ids).toContain("text.vision.structured.v1");
    expect(ids).toContain("sandbox/sandbox-1");
    expect(ids).not.toContain("text.creative.longform.v1"); // runs only as a durable job
    expect(ids).not.toContain("text.translate.v1"); // takes no conversation
    expect(ids.some((id) => id.startsWith("openai/"))).toBe(false); // no openai account is connected
    for (const id of [FAST, "sandbox/sandbox-1", `${FAST}@sandbox/sandbox-1`])
      expect((await world.client.models.retrieve(id)).id).toBe(id);
    const unconnected = refusal(
      world.client.chat.completions.create({ model: "openai/gpt-4.1-mini", messages: question }),
    );
    expect(await unconnected).toMatchObject({ status: 409, code: "CONNECTION_REQUIRED" });
    for (const id of ["gpt-4o", "openai/gpt-5.6-sol", `${FAST}@sandbox/none`]) {
      const { status, code, param } = await refusal(world.client.models.retrieve(id));
      expect({ status, code, param }).toEqual({ status: 404, code: "UNKNOWN_CAPABILITY", param: "model" });
    }
  });
});
