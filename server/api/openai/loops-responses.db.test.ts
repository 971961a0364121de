import OpenAI from "openai";
import { expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { makeTenant } from "@/testing/api";
import { parametersOf, refusal, serveOpenAI } from "./client.fixture";

/* Loops of tools on /v1/responses, as OpenAI's client and the frameworks built on it send them: calls go out, results come back. */

const FAST = "text.general.fast.v1";

const world = serveOpenAI({ maxRetries: 0 });
const itemTool = (name: string) => ({
  type: "function" as const,
  name,
  strict: true,
  parameters: parametersOf("river"),
});
const question = "How deep are the rivers?";
const asking = "Use depth_of and width_of on the rivers.";

type Items = OpenAI.Responses.ResponseInput;
const tools = [itemTool("depth_of"), itemTool("width_of")];
const ask = (input: Items, more: object = {}) =>
  world.client.responses.create({ model: FAST, input, tools, ...more }) as Promise<OpenAI.Responses.Response>;
const callsIn = ({ output }: OpenAI.Responses.Response) =>
  output.flatMap((item) => (item.type === "function_call" ? [item] : []));
const outputsOf = (response: OpenAI.Responses.Response, result: string): Items =>
  callsIn(response).map(({ call_id }) => ({ type: "function_call_output", call_id, output: result }));

test("results of parallel calls are accepted as input items, and reasoning items in the history are skipped", async () => {
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

test("an assistant message and its calls become one message", async () => {
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
  const { request } = (await world.tenant.get(`/v1/jobs/${response.id}/request`)).json;
  expect(request.input.messages).toHaveLength(3);
});

test("items of earlier answers can be referred to by id, while their content is kept", async () => {
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
  const { request } = (await world.tenant.get(`/v1/jobs/${third.id}/request`)).json;
  expect(request.input.messages[3]).toEqual({ role: "assistant", content: second.output_text });
  const stranger = await makeTenant();
  const theirs = new OpenAI({ apiKey: stranger.key, baseURL: `${world.server.url}/v1`, maxRetries: 0 });
  const foreign = theirs.responses.create({ model: FAST, input, tools });
  expect(await refusal(foreign)).toMatchObject({ status: 422, param: "input[1].id" });
  await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1 AND kind = 'output'", [first.id]);
  expect(await refusal(ask(input))).toMatchObject({ status: 422, param: "input[1].id" });
});

test("a handoff is a call that another agent answers", async () => {
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
])("tool_choice %j decides which tools are called", async (tool_choice, names) => {
  const response = await ask([{ role: "user", content: question }], { tool_choice });
  expect(callsIn(response).map(({ name }) => name)).toEqual(names);
  expect(response.tool_choice).toEqual(tool_choice);
});

test("the client reassembles a stream of calls, and the stream of the answer to their results", async () => {
  const input: Items = [{ role: "user", content: question }];
  const first = await world.client.responses.stream({ model: FAST, input, tools }).finalResponse();
  input.push(...(first.output as Items), ...outputsOf(first, "ten"));
  const second = await world.client.responses.stream({ model: FAST, input, tools }).finalResponse();
  expect(second.output_text).toContain("ten");
});

test.each<[string, unknown[], string]>([
  ["an item of another kind", [{ type: "web_search_call", id: "ws_1" }], "input[0].type"],
  ["an item no one knows", [{ type: "item_reference", id: "msg_1" }], "input[0].id"],
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
])("a validation error names its item: %s", async (_name, input, param) => {
  expect(await refusal(ask(input as Items))).toMatchObject({ status: 422, param });
});
