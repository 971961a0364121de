import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { parametersOf, refusal, serveOpenAI } from "./client.fixture";

/* Loops of tools, as OpenAI's client and the frameworks built on it send them: calls go out, results come back. */

const FAST = "text.general.fast.v1";

const world = serveOpenAI({ maxRetries: 0 });

const chatTool = (name: string) => ({
  type: "function" as const,
  function: { name, description: `Knows ${name}.`, parameters: parametersOf("river") },
});
const both = [chatTool("depth_of"), chatTool("width_of")];
const question = "How deep are the rivers?";
const asking = "Use depth_of and width_of on the rivers.";

type Messages = OpenAI.ChatCompletionMessageParam[];
const chat = async (messages: Messages, more: object = {}) => {
  const answer = await world.client.chat.completions.create({ model: FAST, messages, ...more });
  return { ...answer.choices[0]!, id: answer.id };
};
const namesIn = ({ message }: Awaited<ReturnType<typeof chat>>) =>
  (message.tool_calls ?? []).map((call) => (call.type === "function" ? call.function.name : ""));
const resultsOf = (
  { message }: Awaited<ReturnType<typeof chat>>,
  result: (name: string) => string,
): Messages =>
  (message.tool_calls ?? []).map((call) => ({
    role: "tool",
    tool_call_id: call.id,
    content: result(call.type === "function" ? call.function.name : ""),
  }));

describe("chat completions", () => {
  test("the client's tool runner calls the tool once, and the answer has the tool's result", async () => {
    const asked: unknown[] = [];
    const runner = world.client.chat.completions.runTools({
      model: FAST,
      messages: [{ role: "user", content: question }],
      tools: [
        {
          type: "function",
          function: {
            name: "depth_of",
            description: "The depth of a river.",
            parse: JSON.parse,
            parameters: parametersOf("river"),
            function: (args: object) => {
              asked.push(args);
              return "twelve metres";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain("twelve metres");
    expect(asked).toEqual([{ river: expect.any(String) }]);
  });

  test("several tools are called in one answer, and a later question calls one of them again", async () => {
    const messages: Messages = [{ role: "user", content: asking }];
    const first = await chat(messages, { tools: both });
    expect(first.finish_reason).toBe("tool_calls");
    expect(first.message.content).toBeNull();
    expect(namesIn(first)).toEqual(["depth_of", "width_of"]);
    messages.push(first.message, ...resultsOf(first, (name) => `${name} is nine`));
    const second = await chat(messages, { tools: both });
    expect(second.finish_reason).toBe("stop");
    expect(second.message.content).toContain("depth_of is nine");
    expect(second.message.content).toContain("width_of is nine");
    messages.push(second.message, { role: "user", content: "And again width_of, please." });
    const third = await chat(messages, { tools: both });
    expect(namesIn(third)).toEqual(["width_of"]);
  });

  test("with parallel_tool_calls false, each answer calls one tool, after the result of the previous call", async () => {
    const messages: Messages = [{ role: "user", content: asking }];
    const called: string[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const answer = await chat(messages, { tools: both, parallel_tool_calls: false });
      called.push(...namesIn(answer));
      messages.push(answer.message, ...resultsOf(answer, (name) => `${name} is four`));
    }
    expect(called).toEqual(["depth_of", "width_of"]);
    const last = await chat(messages, { tools: both, parallel_tool_calls: false });
    expect(last.message.content).toContain("width_of is four");
  });

  test.each<[string, unknown, string[]]>([
    ["auto", "auto", ["depth_of"]],
    ["none", "none", []],
    ["required", "required", ["depth_of"]],
    ["a function", { type: "function", function: { name: "width_of" } }, ["width_of"]],
    [
      "some of the tools",
      {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "width_of" } }] },
      },
      ["width_of"],
    ],
  ])("tool_choice %s decides which tools are called", async (_name, tool_choice, names) => {
    const answer = await chat([{ role: "user", content: question }], { tools: both, tool_choice });
    expect(namesIn(answer)).toEqual(names);
  });

  test("a forced tool is called even if there is a result, and no tool is called if none is allowed", async () => {
    const messages: Messages = [{ role: "user", content: question }];
    const first = await chat(messages, { tools: both });
    messages.push(first.message, ...resultsOf(first, () => "deep"));
    expect(namesIn(await chat(messages, { tools: both, tool_choice: "required" }))).toEqual(["width_of"]);
    const named = { type: "function", function: { name: "width_of" } };
    expect(namesIn(await chat(messages, { tools: both, tool_choice: named }))).toEqual(["width_of"]);
    const none = await chat(messages, { tools: both, tool_choice: "none" });
    expect(none.message.content).toContain("deep");
  });

  test("unknown members that clients send back on assistant and tool messages are ignored", async () => {
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "depth_of", arguments: "{}" },
      index: 0,
    };
    const { message } = await chat(
      [
        { role: "user", content: question },
        {
          role: "assistant",
          content: [{ type: "text", text: "Let me see.", annotations: [], role: "assistant", refusal: null }],
          refusal: null,
          annotations: [],
          audio: null,
          function_call: null,
          id: "msg_1",
          status: "completed",
          logprobs: null,
          reasoning_content: "hm",
          tool_calls: [call],
        },
        {
          role: "tool",
          tool_call_id: "call_1",
          content: [{ type: "text", text: "a fathom" }],
          name: "depth_of",
        },
      ] as unknown as Messages,
      { tools: both },
    );
    expect(message.content).toContain("a fathom");
  });

  test("a stream has its calls in OpenAI's order, and the next turn streams the answer", async () => {
    const messages: Messages = [{ role: "user", content: asking }];
    const stream = await world.client.chat.completions.create({
      model: FAST,
      messages,
      tools: both,
      stream: true,
    });
    const deltas = [];
    for await (const { choices } of stream) deltas.push(...(choices[0]?.delta.tool_calls ?? []));
    const opening = { type: "function", id: expect.stringMatching(/^call_/) };
    expect(deltas).toEqual([
      { index: 0, ...opening, function: { name: "depth_of", arguments: "" } },
      { index: 0, function: { arguments: expect.stringMatching(/^\{"river":/) } },
      { index: 1, ...opening, function: { name: "width_of", arguments: "" } },
      { index: 1, function: { arguments: expect.stringMatching(/^\{"river":/) } },
    ]);
    const runner = world.client.chat.completions.stream({ model: FAST, messages, tools: both });
    const { choices } = await runner.finalChatCompletion();
    messages.push(choices[0]!.message, ...resultsOf({ ...choices[0]!, id: "" }, () => "six"));
    const streamed = world.client.chat.completions.stream({ model: FAST, messages, tools: both });
    expect(await streamed.finalContent()).toContain("six");
  });

  test("a structured answer follows the results of the tools", async () => {
    const response_format = {
      type: "json_schema",
      json_schema: { name: "answer", schema: parametersOf("answer"), strict: true },
    };
    for (const model of [FAST, "text.structured.generation.v1"]) {
      const messages: Messages = [{ role: "user", content: question }];
      const first = await chat(messages, { model, tools: both, response_format });
      expect(namesIn(first)).toEqual(["depth_of"]);
      messages.push(first.message, ...resultsOf(first, () => "two"));
      const last = await chat(messages, { model, tools: both, response_format });
      expect(JSON.parse(last.message.content ?? "")).toEqual({ answer: expect.any(String) });
    }
  });

  test("calls and results are part of the request: they are kept with its content, hashed, and counted", async () => {
    const call = { id: "call_1", type: "function" as const, function: { name: "depth_of", arguments: "{}" } };
    const conversation = (content: string, text = "{}"): Messages => [
      { role: "user", content: question },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ ...call, function: { name: "depth_of", arguments: text } }],
      },
      { role: "tool", tool_call_id: "call_1", content },
    ];
    const headers = { "Idempotency-Key": "a-loop" };
    const ask = (messages: Messages) =>
      world.client.chat.completions.create({ model: FAST, messages, tools: both }, { headers });
    const first = await ask(conversation("five"));
    expect((await ask(conversation("five"))).id).toBe(first.id);
    expect(await refusal(ask(conversation("six")))).toMatchObject({
      status: 409,
      code: "IdempotencyConflict",
    });
    expect(await refusal(ask(conversation("five", '{"river":"Elbe"}')))).toMatchObject({ status: 409 });
    const { request } = (await world.tenant.get(`/v1/jobs/${first.id}/request`)).json;
    expect(request.conversation).toEqual({
      turns: [
        { at: 1, toolCalls: [{ id: "call_1", name: "depth_of", arguments: "{}" }] },
        { at: 2, toolCallId: "call_1" },
      ],
    });
    const maximum = async (messages: Messages) => {
      const { id } = await chat(messages, { tools: both });
      const { rows } = await pool.query<{ most: number }>(
        "SELECT (pricing->>'maximumMicros')::int AS most FROM job WHERE id = $1",
        [id],
      );
      return rows[0]?.most ?? 0;
    };
    const long = JSON.stringify({ river: "Elbe ".repeat(2_000) });
    expect(await maximum(conversation("five", long))).toBeGreaterThan(await maximum(conversation("five")));
  });

  test("the envelope of an invoke does not accept a conversation", async () => {
    const body = {
      input: { messages: [{ role: "user", content: question }] },
      conversation: { turns: [] },
    };
    for (const verb of ["invoke", "jobs"]) {
      const { status, json } = await world.tenant.post(`/v1/capabilities/${FAST}/${verb}`, body);
      expect({ status, code: json.code }).toEqual({ status: 422, code: "UNKNOWN_EXECUTION_FIELD" });
    }
  });

  test.each<[string, object, string]>([
    [
      "a result without its call",
      {
        messages: [
          { role: "user", content: "x" },
          { role: "tool", tool_call_id: "y", content: "z" },
        ],
      },
      "messages[1]",
    ],
    [
      "a call without its result",
      {
        messages: [
          { role: "user", content: "x" },
          {
            role: "assistant",
            tool_calls: [{ id: "y", type: "function", function: { name: "a", arguments: "" } }],
          },
          { role: "user", content: "x" },
        ],
      },
      "messages[1]",
    ],
    ["a choice without tools", { tool_choice: "required" }, "tool_choice"],
    [
      "a choice of a tool that is not there",
      { tools: both, tool_choice: { type: "function", function: { name: "length_of" } } },
      "tool_choice",
    ],
    [
      "an assistant that says nothing",
      { messages: [{ role: "assistant", content: null }] },
      "messages[0].content",
    ],
  ])("a validation error names its field: %s", async (_name, more, param) => {
    const error = await refusal(chat([{ role: "user", content: question }], more));
    expect(error).toMatchObject({ status: 422, code: "InvalidInput", param });
  });
});
