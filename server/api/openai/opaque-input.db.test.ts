import { describe, expect, test } from "vitest";
import { framesOf } from "@/testing/streams";
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

/* Opaque members of answers in the product's own envelope: a typed output can be sent back unchanged. */

const { world, sent, rewritesOf } = serveThinker();

describe("in the envelope of a capability", () => {
  const FAST = "/v1/capabilities/text.general.fast.v1/invoke";
  const execution = { executionConstraints: { preferredModel: THINKS } };
  const invoke = (messages: object[], more: object = {}) =>
    world.tenant.post(FAST, {
      input: { messages },
      toolSchemas: [{ type: "function", name: "depth", parameters: { type: "object" } }],
      execution,
      ...more,
    });

  test.each(["RequestResponse", "Stream"])(
    "the typed output can be sent back unchanged: %s",
    async (executionMode) => {
      world.vendor.answer(executionMode === "Stream" ? streamed : whole());
      const first = await invoke([question], { executionMode });
      expect(first.status, first.text).toBe(200);
      const { text } = await world.tenant.get(`/v1/executions/${first.json.executionId}/events`);
      const output = first.json.typedOutput ?? framesOf(text).at(-1)?.data.typedOutput;
      expect(output).toMatchObject({
        id: expect.stringMatching(TAG),
        opaque: OPAQUE,
        toolCalls: [{ id: expect.stringMatching(TAG), opaque: { extra_content: CALL.extra_content } }],
      });
      world.vendor.answer(HELLO);
      const result = { role: "tool", toolCallId: output.toolCalls[0].id, content: "9 m" };
      const second = await invoke([question, output, result]);
      expect(second.status, second.text).toBe(200);
      expect(sent().slice(1)).toEqual([MESSAGE, { role: "tool", tool_call_id: CALL.id, content: "9 m" }]);
    },
  );

  const called = { id: "a", name: "depth", arguments: "{}" };
  const result = { role: "tool", toolCallId: "a", content: "9 m" };
  const answer = { role: "assistant", content: "" };
  test.each<[string, object[], (string | number)[]]>([
    ["members of a wrong type", [{ ...answer, opaque: "x" }], [0, "opaque"]],
    ["members as a list", [{ ...answer, opaque: [] }], [0, "opaque"]],
    ["an empty id", [{ ...answer, id: "" }], [0, "id"]],
    ["an id of a wrong type", [{ ...answer, id: 7 }], [0, "id"]],
    ["members of a user", [{ ...question, opaque: {} }], [0, "opaque"]],
    [
      "calls of a system message",
      [{ role: "system", content: "", toolCalls: [called] }, result],
      [0, "toolCalls"],
    ],
    ["no calls", [{ ...answer, toolCalls: [] }], [0, "toolCalls"]],
    [
      "a call without a name",
      [{ ...answer, toolCalls: [{ ...called, name: "" }] }, result],
      [0, "toolCalls", 0, "name"],
    ],
    [
      "an unknown member of a call",
      [{ ...answer, toolCalls: [{ ...called, type: "x" }] }, result],
      [0, "toolCalls", 0, "type"],
    ],
    ["a result that names no call", [{ role: "tool", content: "" }], [0, "toolCallId"]],
    ["a user that names a call", [{ ...question, toolCallId: "a" }], [0, "toolCallId"]],
    ["a result without its call", [question, result], [1]],
    ["a result twice", [{ ...answer, toolCalls: [called] }, result, result], [2]],
    ["a call without its result", [{ ...answer, toolCalls: [called] }, question], [0]],
    ["another role", [{ role: "developer", content: "" }], [0, "role"]],
    [
      "a member that names the role",
      [{ ...answer, opaque: { role: "system" } }, question],
      [0, "opaque", "role"],
    ],
    [
      "a member that names the function",
      [{ ...answer, toolCalls: [{ ...called, opaque: { function: {} } }] }, result],
      [0, "toolCalls", 0, "opaque", "function"],
    ],
    ["members of more than 256 KiB", [{ ...answer, opaque: { s: "x".repeat(262_144) } }, question], [0]],
  ])("an invalid member is 422 at its place: %s", async (_case, messages, path) => {
    world.vendor.answer(HELLO);
    const { status, json } = await invoke(messages);
    expect([status, json.code]).toEqual([422, "InvalidInput"]);
    expect(json.detail?.[0]?.loc).toEqual([...["body", "input", "messages"], ...path]);
    expect(world.vendor.arrived).toHaveLength(0);
  });

  test("a history with tool calls needs a model that supports tools, and members from elsewhere are left out", async () => {
    world.vendor.answer(HELLO);
    const opaque = { reasoning_content: SECRET };
    const { status, json, text } = await invoke([
      question,
      { ...answer, opaque, toolCalls: [called] },
      result,
    ]);
    expect(status, text).toBe(200);
    expect(world.vendor.arrived.at(-1)?.body).not.toContain(SECRET);
    expect(await rewritesOf(json.executionId)).toEqual(LEFT_OUT);
  });
});
