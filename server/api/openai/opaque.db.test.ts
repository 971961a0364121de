import { describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import {
  CALL,
  HELLO,
  LEFT_OUT,
  MESSAGE,
  OPAQUE,
  question,
  SECRET,
  serveThinker,
  streamed,
  TAG,
  THINKS,
  whole,
} from "./opaque.fixture";

/*
 * Opaque members of answers are returned to clients of OpenAI's interfaces, and sent back only to the server that made them.
 */

const { world, sent, rewritesOf } = serveThinker();
const tools = [{ type: "function", function: { name: "depth", parameters: { type: "object" } } }];
// biome-ignore lint/suspicious/noExplicitAny: a test reads messages of every shape
type Message = any;
const chat = (messages: object[], more: object = {}) =>
  world.tenant.post("/v1/chat/completions", { model: THINKS, messages, tools, ...more });

/** The first turn's message as the endpoint returned it. */
async function firstTurn({ stream = false } = {}): Promise<Message> {
  world.vendor.answer(stream ? streamed : whole());
  const { status, json, text } = await chat([question], { stream });
  expect(status, text).toBe(200);
  return stream ? gathered(text) : json.choices[0].message;
}

/** Joins the chunks of a message as OpenAI's client does: an unknown member keeps its last value. */
function gathered(text: string): Message {
  const message: Message = {};
  const events = text.split("\n\n").filter((each) => each.startsWith("data: {"));
  for (const event of events) {
    const { tool_calls, content, ...others } = JSON.parse(event.slice(6)).choices[0]?.delta ?? {};
    Object.assign(message, others);
    if (content) message.content = (message.content ?? "") + content;
    for (const { index, ...piece } of tool_calls ?? []) {
      message.tool_calls ??= [];
      const known = message.tool_calls[index];
      if (!known) message.tool_calls[index] = piece;
      else known.function.arguments += piece.function.arguments;
    }
  }
  return message;
}

/** The second turn: the message as it was returned, and the results of its calls. */
const secondTurn = (message: Message, more: object = {}) => {
  world.vendor.answer(HELLO);
  const results = message.tool_calls.map(({ id }: { id: string }) => ({
    role: "tool",
    tool_call_id: id,
    content: "9 m",
  }));
  return chat([question, message, ...results], more);
};

describe("on chat completions", () => {
  test.each([false, true])(
    "members are sent back to their server unchanged, streamed: %s",
    async (stream) => {
      const message = await firstTurn({ stream });
      expect(message).toMatchObject({ ...OPAQUE, id: expect.stringMatching(TAG) });
      const [call] = message.tool_calls;
      expect(call).toMatchObject({ ...CALL, id: expect.stringMatching(TAG) });
      const { status, json, text } = await secondTurn(message, { stream });
      expect(status, text).toBe(200);
      expect(sent().slice(1)).toEqual([MESSAGE, { role: "tool", tool_call_id: CALL.id, content: "9 m" }]);
      if (!stream) expect(await rewritesOf(json.id)).toEqual([]);
    },
  );

  test.each(["openai-compatible:two/thinks", "openai-compatible/other"])(
    "%s gets no members of another server, and the receipt reports it",
    async (model) => {
      const { status, json, text } = await secondTurn(await firstTurn(), { model });
      expect(status, text).toBe(200);
      const { extra_content: _, ...call } = CALL;
      expect(sent()[1]).toEqual({ role: "assistant", content: null, tool_calls: [call] });
      expect(world.vendor.arrived.at(-1)?.body).not.toContain(SECRET);
      expect(await rewritesOf(json.id)).toEqual(LEFT_OUT);
    },
  );

  test("members with a forged tag are not sent, and the receipt reports it", async () => {
    const message = JSON.parse(
      JSON.stringify(await firstTurn()).replace(/_[0-9a-f]{16}c"/g, '_0000000000000000c"'),
    );
    const { json } = await secondTurn(message);
    expect(sent()[1]).not.toHaveProperty("reasoning_content");
    expect(await rewritesOf(json.id)).toEqual(LEFT_OUT);
  });

  test("members of messages from elsewhere are not part of the request, however large", async () => {
    const message = { ...MESSAGE, id: "msg_1", reasoning_content: "x".repeat(300_000) };
    const { status, json, text } = await secondTurn(message);
    expect(status, text).toBe(200);
    const { extra_content: _, ...call } = CALL;
    expect(sent()[1]).toEqual({ role: "assistant", content: null, tool_calls: [call] });
    const { request } = (await world.tenant.get(`/v1/jobs/${json.id}/request`)).json;
    const { id, function: called } = CALL;
    expect(request.conversation).toEqual({
      turns: [
        { at: 1, toolCalls: [{ id, ...called }] },
        { at: 2, toolCallId: id },
      ],
    });
    expect(await rewritesOf(json.id)).toEqual([]);
  });

  test("members that a client drops are sent from the record, as long as its content is kept", async () => {
    const { tool_calls } = await firstTurn({ stream: true });
    const bare = {
      role: "assistant",
      content: "",
      tool_calls: tool_calls.map(({ id, type, function: called }: Message) => ({
        id,
        type,
        function: called,
      })),
    };
    await secondTurn(bare);
    expect(sent()[1]).toEqual(MESSAGE);
    const execution = `wfr_${/_cpt_(\w{26})/.exec(tool_calls[0].id)?.[1]}`;
    await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1 AND kind = 'output'", [execution]);
    expect((await secondTurn(bare)).status).toBe(200);
    const { extra_content: _, ...call } = CALL;
    expect(sent()[1]).toEqual({ role: "assistant", content: null, tool_calls: [call] });
  });

  /** The second turn of a client that drops unknown members: the call without them, and its result. */
  const bareTurn = ({ tool_calls: [{ id, type, function: called }] }: Message) => [
    { role: "assistant", content: "", tool_calls: [{ id, type, function: called }] },
    { role: "tool", tool_call_id: id, content: "9 m" },
  ];

  test("members of the newest messages are recalled first, up to the limit of a request", async () => {
    const turns: object[] = [];
    for (const letter of ["a", "b"]) {
      world.vendor.answer(whole({ ...MESSAGE, reasoning_content: letter.repeat(150_000) }));
      turns.push(...bareTurn((await chat([question])).json.choices[0].message));
    }
    world.vendor.answer(HELLO);
    const { status, text } = await chat([question, ...turns]);
    expect(status, text).toBe(200);
    expect(sent()[1]).not.toHaveProperty("reasoning_content");
    expect(sent()[3].reasoning_content).toBe("b".repeat(150_000));
  });

  test("an execution that many messages name is recalled for as many messages as the limit allows", async () => {
    world.vendor.answer(whole({ ...MESSAGE, reasoning_content: "a".repeat(1_000) }));
    const turn = bareTurn((await chat([question])).json.choices[0].message);
    world.vendor.answer(HELLO);
    const { status, text } = await chat([question, ...Array.from({ length: 300 }, () => turn).flat()]);
    expect(status, text).toBe(200);
    const bringing = sent().map((message) => "reasoning_content" in message);
    expect(bringing.filter(Boolean).length).toBeGreaterThan(200);
    expect([bringing[1], bringing.at(-2)]).toEqual([false, true]);
  });

  test("calls to which a server gives the same id stay apart, and the server gets its own ids back", async () => {
    const calls = [CALL, { ...CALL, function: { name: "depth", arguments: "{}" } }].map(
      ({ extra_content: _, ...call }) => call,
    );
    world.vendor.answer(whole({ role: "assistant", content: null, tool_calls: calls }));
    const { message } = (await chat([question])).json.choices[0];
    expect(message).not.toHaveProperty("id");
    expect(new Set(message.tool_calls.map(({ id }: Message) => id)).size).toBe(2);
    const { status, text } = await secondTurn(message);
    expect(status, text).toBe(200);
    expect(sent()[1].tool_calls).toEqual(calls);
    expect(sent().slice(2)).toMatchObject([{ tool_call_id: CALL.id }, { tool_call_id: CALL.id }]);
  });

  test.each([
    ["", "{}"],
    ['{"river":"El', "{}"],
    ['{ "river": "Elbe" }', '{ "river": "Elbe" }'],
  ])("arguments %j are sent to a server as %j", async (given, back) => {
    const tool_calls = [{ id: "a", type: "function", function: { name: "depth", arguments: given } }];
    await secondTurn({ role: "assistant", content: null, tool_calls });
    expect(sent()[1].tool_calls[0].function.arguments).toBe(back);
  });

  test("more than 256 KiB of members is refused at its message, and nothing is sent", async () => {
    const message = { ...(await firstTurn()), reasoning_content: "x".repeat(262_144) };
    const { status, json } = await secondTurn(message);
    expect([status, json.error.code, json.error.param]).toEqual([422, "InvalidInput", "messages[1]"]);
    expect(world.vendor.arrived).toHaveLength(0);
  });

  test("members count in the bound of the input tokens", async () => {
    const message = await firstTurn();
    const mostOf = async (given: Message) => {
      const { json } = await secondTurn(given);
      const { rows } = await pool.query<{ most: number }>(
        "SELECT (pricing->'bounds'->>'inputTokens')::int AS most FROM job WHERE id = $1",
        [json.id],
      );
      return rows[0]?.most ?? 0;
    };
    const more = { ...message, reasoning_content: "x".repeat(10_000) };
    expect((await mostOf(more)) - (await mostOf(message))).toBe(10_000 - SECRET.length);
  });

  test("members cannot set the model or any other field of the request", async () => {
    const alien = { model: "dear", stream: true, headers: { authorization: "x" }, base_url: "http://x" };
    await secondTurn({ ...(await firstTurn()), ...alien, role: "assistant" });
    const { messages: _, ...request } = JSON.parse(world.vendor.arrived.at(-1)?.body ?? "null");
    expect(request).toMatchObject({ model: "thinks", stream: false });
    expect(request).not.toHaveProperty("headers");
    expect(world.vendor.arrived.at(-1)?.headers.authorization).toBe("Bearer sk-own-123456");
  });

  test("a message with another member under the same key is a conflict", async () => {
    const message = await firstTurn();
    const headers = { "idempotency-key": "turn-2" };
    const ask = (given: Message) => {
      world.vendor.answer(HELLO);
      const results = [{ role: "tool", tool_call_id: given.tool_calls[0].id, content: "9 m" }];
      return world.tenant.post(
        "/v1/chat/completions",
        { model: THINKS, messages: [question, given, ...results], tools },
        { headers },
      );
    };
    const first = await ask(message);
    expect((await ask(message)).json.id).toBe(first.json.id);
    expect((await ask({ ...message, reasoning_content: "Ah." })).status).toBe(409);
  });

  test("members are content: only payload rows contain them", async () => {
    const { json } = await secondTurn(await firstTurn());
    const { rows } = await pool.query<{ job: string; payloads: string }>(
      `SELECT (SELECT to_jsonb(job)::text FROM job WHERE id = $1)
         || (SELECT coalesce(string_agg(to_jsonb(attempt)::text, ''), '') FROM attempt WHERE job_id = $1)
         || (SELECT coalesce(string_agg(to_jsonb(event)::text, ''), '') FROM event WHERE job_id = $1) AS job,
       (SELECT string_agg(content, '') FROM payload WHERE job_id = $1 AND kind = 'request') AS payloads`,
      [json.id],
    );
    expect(rows[0]?.payloads).toContain(SECRET);
    expect(rows[0]?.job).not.toContain(SECRET);
    expect((await world.tenant.get(`/v1/jobs/${json.id}/receipt`)).text).not.toContain(SECRET);
  });
});

describe("on responses", () => {
  const flat = [{ type: "function", name: "depth", parameters: { type: "object" } }];
  const include = ["reasoning.encrypted_content"];
  const respond = (input: object[], more: object) =>
    world.tenant.post("/v1/responses", { model: THINKS, input, tools: flat, ...more });
  const itemsOf = (text: string): Message[] => {
    const last = text.split("\n\n").findLast((each) => each.startsWith("event: response.completed"));
    return JSON.parse(last?.split("data: ")[1] ?? "null").response.output;
  };

  test.each([false, true])("a reasoning item carries members on request, streamed: %s", async (stream) => {
    world.vendor.answer(stream ? streamed : whole());
    const first = await respond([question], { include, stream });
    const output: Message[] = stream ? itemsOf(first.text) : first.json.output;
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    expect(output[1]).toMatchObject({ name: "depth", extra_content: CALL.extra_content });
    expect(JSON.stringify(output)).not.toContain(SECRET);
    world.vendor.answer(HELLO);
    const result = { type: "function_call_output", call_id: output[1].call_id, output: "9 m" };
    const second = await respond([question, ...output, result], { include });
    expect(second.status, second.text).toBe(200);
    expect(sent().slice(1)).toEqual([MESSAGE, { role: "tool", tool_call_id: CALL.id, content: "9 m" }]);
    world.vendor.answer(HELLO);
    const references = output.map(({ id }) => ({ type: "item_reference", id }));
    const third = await respond([question, ...references, result], {});
    expect(third.status, third.text).toBe(200);
    expect(sent()[1]).toEqual(MESSAGE);
  });

  test("without reasoning items, the message stays the first item, and its calls recall the members", async () => {
    world.vendor.answer(whole({ ...MESSAGE, content: "Let me see." }));
    const { output } = (await respond([question], {})).json;
    expect(output.map(({ type }: Message) => type)).toEqual(["message", "function_call"]);
    const { extra_content: _, ...call } = output[1];
    world.vendor.answer(HELLO);
    const result = { type: "function_call_output", call_id: call.call_id, output: "9 m" };
    await respond([question, output[0], call, result], {});
    expect(sent()[1]).toEqual({ ...MESSAGE, content: "Let me see." });
  });

  test.each(["", "x", "msg_1.e30", `msg_1_cpt_${"0".repeat(26)}_${"0".repeat(16)}.bm9uZQ`, 7, null])(
    "a reasoning item whose content is %j is ignored",
    async (encrypted_content) => {
      world.vendor.answer(HELLO);
      const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content };
      const { status, json } = await respond([reasoning, { role: "assistant", content: "Hi" }, question], {});
      expect(status).toBe(200);
      expect(sent()[0]).toEqual({ role: "assistant", content: "Hi" });
      expect(await rewritesOf(json.id)).toEqual([]);
    },
  );
});
