import { describe, expect, test } from "vitest";
import { gatherMessage } from "./stream";

type Event = { type: string; [member: string]: unknown };

/** The message gathered from these events, and the text that was passed on. */
function gather(...events: Event[]) {
  const pieces: string[] = [];
  const gathered = gatherMessage((text) => pieces.push(text));
  for (const event of events) gathered.take({ event: event.type, data: JSON.stringify(event) });
  return { pieces, message: gathered.whole()?.message };
}

const start = (content: object[] = [], stop_reason: string | null = null) => ({
  type: "message_start",
  message: { id: "msg_1", content, stop_reason, usage: { input_tokens: 10, output_tokens: 0 } },
});
const block = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const json = (index: number, partial_json: string) => ({
  type: "content_block_delta",
  index,
  delta: { type: "input_json_delta", partial_json },
});
const STOP = { type: "message_stop" };
const CALL = { type: "tool_use", id: "toolu_1", name: "find", input: { q: "x" } };

describe("the vendor's own tools", () => {
  test.each(["server_tool_use", "mcp_tool_use", "a_later_tool"])(
    "pieces of a %s are not a call of the caller's tools",
    (type) => {
      const { message } = gather(
        start(),
        block(0, { type, id: "srv_1", name: "web_search", input: {} }),
        json(0, '{"query":'),
        json(0, '"tea"}'),
        block(1, { type: "tool_use", id: "toolu_1", name: "find", input: {} }),
        json(1, '{"q":"x"}'),
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
        STOP,
      );
      expect(message?.content).toMatchObject([{ type, input: { query: "tea" } }, CALL]);
    },
  );
});

describe("an answer whose first event has its whole content", () => {
  const content = [{ type: "text", text: "Rolling." }, CALL];

  test("content in the first event is read, and its text is passed on once", () => {
    for (const rest of [[STOP], []]) {
      const { pieces, message } = gather(start(content, "tool_use"), ...rest);
      expect(message).toMatchObject({ stop_reason: "tool_use", content });
      expect(pieces).toEqual(["Rolling."]);
    }
  });

  test("announced blocks replace the content of the first event", () => {
    const { pieces, message } = gather(
      start(content, "tool_use"),
      block(0, { type: "text", text: "Rolling." }),
      block(1, CALL),
      STOP,
    );
    expect(message).toMatchObject({ content });
    expect(pieces).toEqual(["Rolling."]);
  });
});
