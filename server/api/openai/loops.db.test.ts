import OpenAI, { APIError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/db";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";

/* Loops of tools, as OpenAI's client and the frameworks built on it send them: calls go out, results come back. */

const FAST = "text.general.fast.v1";

let tenant: Tenant;
let server: WebServer;
let client: OpenAI;

beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  client = new OpenAI({ apiKey: tenant.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await server.stop(1_000);
});

const parametersOf = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
  additionalProperties: false,
});
const chatTool = (name: string) => ({
  type: "function" as const,
  function: { name, description: `Knows ${name}.`, parameters: parametersOf("river") },
});
const itemTool = (name: string) => ({
  type: "function" as const,
  name,
  strict: true,
  parameters: parametersOf("river"),
});
const both = [chatTool("depth_of"), chatTool("width_of")];
const question = "How deep are the rivers?";
const asking = "Use depth_of and width_of on the rivers.";

type Messages = OpenAI.ChatCompletionMessageParam[];
const chat = async (messages: Messages, more: object = {}) => {
  const answer = await client.chat.completions.create({ model: FAST, messages, ...more });
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

async function refusal(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(APIError);
  return error;
}

describe("chat completions", () => {
  test("the client's own runner of tools ends: each call is answered, then the answer has the result", async () => {
    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
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

  test("tools called at once are answered at once, and a second turn calls them anew", async () => {
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

  test("one at a time where that is asked for, each after the result of the one before", async () => {
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
  ])("tool_choice: %s", async (_name, tool_choice, names) => {
    const answer = await chat([{ role: "user", content: question }], { tools: both, tool_choice });
    expect(namesIn(answer)).toEqual(names);
  });

  test("a forced tool is called though there is a result, and none is where none is allowed", async () => {
    const messages: Messages = [{ role: "user", content: question }];
    const first = await chat(messages, { tools: both });
    messages.push(first.message, ...resultsOf(first, () => "deep"));
    expect(namesIn(await chat(messages, { tools: both, tool_choice: "required" }))).toEqual(["width_of"]);
    const named = { type: "function", function: { name: "width_of" } };
    expect(namesIn(await chat(messages, { tools: both, tool_choice: named }))).toEqual(["width_of"]);
    const none = await chat(messages, { tools: both, tool_choice: "none" });
    expect(none.message.content).toContain("deep");
  });

  test("what clients give back beside the words is not read: on messages of the assistant and of tools", async () => {
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

  test("a stream tells its calls as OpenAI does, and the next turn streams the answer", async () => {
    const messages: Messages = [{ role: "user", content: asking }];
    const stream = await client.chat.completions.create({ model: FAST, messages, tools: both, stream: true });
    const deltas = [];
    for await (const { choices } of stream) deltas.push(...(choices[0]?.delta.tool_calls ?? []));
    const opening = { type: "function", id: expect.stringMatching(/^call_/) };
    expect(deltas).toEqual([
      { index: 0, ...opening, function: { name: "depth_of", arguments: "" } },
      { index: 0, function: { arguments: expect.stringMatching(/^\{"river":/) } },
      { index: 1, ...opening, function: { name: "width_of", arguments: "" } },
      { index: 1, function: { arguments: expect.stringMatching(/^\{"river":/) } },
    ]);
    const runner = client.chat.completions.stream({ model: FAST, messages, tools: both });
    const { choices } = await runner.finalChatCompletion();
    messages.push(choices[0]!.message, ...resultsOf({ ...choices[0]!, id: "" }, () => "six"));
    const told = client.chat.completions.stream({ model: FAST, messages, tools: both });
    expect(await told.finalContent()).toContain("six");
  });

  test("a structured end comes after the tools", async () => {
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

  test("calls and results are part of the request: kept with its content, hashed, and counted", async () => {
    const call = { id: "call_1", type: "function" as const, function: { name: "depth_of", arguments: "{}" } };
    const told = (content: string, text = "{}"): Messages => [
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
      client.chat.completions.create({ model: FAST, messages, tools: both }, { headers });
    const first = await ask(told("five"));
    expect((await ask(told("five"))).id).toBe(first.id);
    expect(await refusal(ask(told("six")))).toMatchObject({ status: 409, code: "IdempotencyConflict" });
    expect(await refusal(ask(told("five", '{"river":"Elbe"}')))).toMatchObject({ status: 409 });
    const { request } = (await tenant.get(`/v1/jobs/${first.id}/request`)).json;
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
    expect(await maximum(told("five", long))).toBeGreaterThan(await maximum(told("five")));
  });

  test("the envelope of an invoke takes no conversation from outside", async () => {
    const body = {
      input: { messages: [{ role: "user", content: question }] },
      conversation: { turns: [] },
    };
    for (const verb of ["invoke", "jobs"]) {
      const { status, json } = await tenant.post(`/v1/capabilities/${FAST}/${verb}`, body);
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
  ])("422 names the field: %s", async (_name, more, param) => {
    const error = await refusal(chat([{ role: "user", content: question }], more));
    expect(error).toMatchObject({ status: 422, code: "InvalidInput", param });
  });
});

describe("responses", () => {
  type Items = OpenAI.Responses.ResponseInput;
  const tools = [itemTool("depth_of"), itemTool("width_of")];
  const ask = (input: Items, more: object = {}) =>
    client.responses.create({ model: FAST, input, tools, ...more }) as Promise<OpenAI.Responses.Response>;
  const callsIn = ({ output }: OpenAI.Responses.Response) =>
    output.flatMap((item) => (item.type === "function_call" ? [item] : []));
  const outputsOf = (response: OpenAI.Responses.Response, result: string): Items =>
    callsIn(response).map(({ call_id }) => ({ type: "function_call_output", call_id, output: result }));

  test("calls are answered by items, at once too, and thinking in the history is passed over", async () => {
    const input: Items = [{ role: "user", content: asking }];
    const first = await ask(input);
    expect(callsIn(first).map(({ name }) => name)).toEqual(["depth_of", "width_of"]);
    input.push(
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
      ...(first.output as Items),
      ...outputsOf(first, "nine leagues"),
    );
    const second = await ask(input, { include: ["reasoning.encrypted_content"], store: false });
    expect(second.output_text).toContain("nine leagues");
    input.push(...(second.output as Items), { role: "user", content: "Now width_of alone." });
    expect(callsIn(await ask(input)).map(({ name }) => name)).toEqual(["width_of"]);
  });

  test("a message of the assistant and its calls are one turn", async () => {
    const response = await ask([
      { role: "user", content: question },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "A moment." }] },
      {
        type: "function_call",
        call_id: "a",
        name: "depth_of",
        arguments: "{}",
        id: "fc_1",
        status: "completed",
      },
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "a mile" }] },
    ] as unknown as Items);
    expect(response.output_text).toContain("a mile");
    const { request } = (await tenant.get(`/v1/jobs/${response.id}/request`)).json;
    expect(request.input.messages).toHaveLength(3);
  });

  test("items of earlier answers may be named by their ids, as long as their content is kept", async () => {
    const input: Items = [{ role: "user", content: question }];
    const first = await ask(input);
    const named = (response: OpenAI.Responses.Response): Items =>
      response.output.map(({ id }) => ({ type: "item_reference", id: id ?? "" }));
    input.push(...named(first), ...outputsOf(first, "eleven"));
    const second = await ask(input);
    expect(second.output_text).toContain("eleven");
    input.push(...named(second), { role: "user", content: "Thanks. And the width_of them?" });
    const third = await ask(input);
    expect(callsIn(third).map(({ name }) => name)).toEqual(["width_of"]);
    const { request } = (await tenant.get(`/v1/jobs/${third.id}/request`)).json;
    expect(request.input.messages[3]).toEqual({ role: "assistant", content: second.output_text });
    const stranger = await makeTenant();
    const theirs = new OpenAI({ apiKey: stranger.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const foreign = theirs.responses.create({ model: FAST, input, tools });
    expect(await refusal(foreign)).toMatchObject({ status: 422, param: "input[1].id" });
    await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1 AND kind = 'output'", [first.id]);
    expect(await refusal(ask(input))).toMatchObject({ status: 422, param: "input[1].id" });
  });

  test("a handoff is a call whose answer another agent gives", async () => {
    const handoff = itemTool("transfer_to_surveyor");
    const input: Items = [{ role: "user", content: question }];
    const first = await ask(input, { tools: [handoff], instructions: "You route." });
    input.push(...(first.output as Items), ...outputsOf(first, '{"assistant":"surveyor"}'));
    const second = await ask(input, { instructions: "You survey.", tools: [itemTool("depth_of")] });
    expect(second.output_text).toContain('{"assistant":"surveyor"}');
    expect(second.tool_choice).toBe("auto");
  });

  test.each<[unknown, string[]]>([
    ["required", ["depth_of"]],
    [{ type: "function", name: "width_of" }, ["width_of"]],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "width_of" }] },
      ["width_of"],
    ],
    ["none", []],
  ])("tool_choice: %j", async (tool_choice, names) => {
    const response = await ask([{ role: "user", content: question }], { tool_choice });
    expect(callsIn(response).map(({ name }) => name)).toEqual(names);
    expect(response.tool_choice).toEqual(tool_choice);
  });

  test("a stream of calls, then of the answer, is put together by the client", async () => {
    const input: Items = [{ role: "user", content: question }];
    const first = await client.responses.stream({ model: FAST, input, tools }).finalResponse();
    input.push(...(first.output as Items), ...outputsOf(first, "ten"));
    const second = await client.responses.stream({ model: FAST, input, tools }).finalResponse();
    expect(second.output_text).toContain("ten");
  });

  test.each<[string, unknown[], string]>([
    ["an item of another kind", [{ type: "web_search_call", id: "ws_1" }], "input[0].type"],
    ["an item nobody knows", [{ type: "item_reference", id: "msg_1" }], "input[0].id"],
    [
      "a result without its call",
      [
        { role: "user", content: "x" },
        { type: "function_call_output", call_id: "z", output: "x" },
      ],
      "input[1]",
    ],
    [
      "a picture as a result",
      [{ type: "function_call_output", call_id: "z", output: [{ type: "input_image" }] }],
      "input[0].output[0].type",
    ],
  ])("422 names the item: %s", async (_name, input, param) => {
    expect(await refusal(ask(input as Items))).toMatchObject({ status: 422, param });
  });
});
