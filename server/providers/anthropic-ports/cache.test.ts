import { describe, expect, test } from "vitest";
import anthropic from "../anthropic";
import type { ModelFacts, TextCall, TextMessage } from "../define";
import { ioFor } from "../testing/vendor";
import { toMessagesRequest } from "./request";

/* Cache marks in the request body for Claude. */

const MARK = { cache_control: { type: "ephemeral" } };
const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };
const io = ioFor(anthropic, "claude-opus-5-5", "text", { baseUrl: "http://127.0.0.1:9" });
const bodyOf = (messages: TextMessage[], more: Partial<TextCall> = {}, model?: Partial<ModelFacts>) =>
  toMessagesRequest(
    { messages, responseFormat: { type: "text" }, ...more },
    { ...io, model: { ...io.model, ...model } },
  );

describe("cache marks", () => {
  test("a mark of a message is on its block, and unmarked messages get none", () => {
    const { system, messages } = bodyOf([
      { role: "system", content: "A long book.", cache: [{ ttl: "1h" }] },
      { role: "system", content: "Be short." },
      { role: "user", content: "Hello", cache: [{}] },
      { role: "assistant", content: "Hi" },
    ]);
    expect(system).toEqual([
      { type: "text", text: "A long book.", ...HOUR },
      { type: "text", text: "Be short." },
    ]);
    expect(messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hello", ...MARK }] },
      { role: "assistant", content: "Hi" },
    ]);
  });

  test("a mark inside a text ends a block there, without the line break", () => {
    const { messages } = bodyOf([
      { role: "user", content: "The book.\nA question?\nMore.", cache: [{ end: 9 }] },
    ]);
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "The book.", ...MARK },
          { type: "text", text: "A question?\nMore." },
        ],
      },
    ]);
  });

  test("a mark of a picture is on its block", () => {
    const picture = { type: "image" as const, mediaType: "image/png", bytes: Buffer.from("x") };
    const { messages } = bodyOf([
      { role: "user", content: [picture, { type: "text", text: "What is it?" }], cache: [{ part: 0 }] },
    ]);
    const [first, second] = (messages as { content: object[] }[])[0]!.content;
    expect(first).toMatchObject({ type: "image", ...MARK });
    expect(second).toEqual({ type: "text", text: "What is it?" });
  });

  test("the mark of a call, a result or a tool is on its own block", () => {
    const tool = { type: "function", name: "look", parameters: { type: "object" } };
    const { messages, tools } = bodyOf(
      [
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: "Yes.",
          toolCalls: [{ id: "call_1", name: "look", arguments: "{}" }],
          cache: [{}],
        },
        { role: "tool", content: "A cat", toolCallId: "call_1", cache: [{}] },
      ],
      { tools: [tool, { ...tool, name: "find" }], toolCache: [{ at: 1 }] },
    );
    expect(messages).toMatchObject([
      { content: "Look." },
      { content: [{ type: "text" }, { type: "tool_use", ...MARK }] },
      { content: [{ type: "tool_result", ...MARK }] },
    ]);
    expect(tools).toEqual([
      { name: "look", input_schema: { type: "object" } },
      { name: "find", input_schema: { type: "object" }, ...MARK },
    ]);
  });

  test("the mark of a system message moves with it into the user turn", () => {
    const { system, messages } = bodyOf([
      { role: "system", content: "One" },
      { role: "system", content: "Two", cache: [{}] },
    ]);
    expect(system).toBeUndefined();
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "One\n\nTwo", ...MARK }] }]);
  });

  test("a mark on white space goes to the block before", () => {
    const { messages } = bodyOf([{ role: "user", content: "Book\n  ", cache: [{ end: 7 }] }]);
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "Book\n  ", ...MARK }] }]);
    const twice = bodyOf([{ role: "user", content: "Book\n  ", cache: [{ end: 4 }, { end: 7, ttl: "1h" }] }]);
    expect(twice.messages).toEqual([{ role: "user", content: [{ type: "text", text: "Book", ...HOUR }] }]);
  });

  test("a model whose price states no cache writes receives no marks", () => {
    const { messages } = bodyOf(
      [{ role: "user", content: "Hello", cache: [{}] }],
      {},
      { price: { per: "million_tokens", input: 1, output: 1 } },
    );
    expect(messages).toEqual([{ role: "user", content: "Hello" }]);
  });

  test("a mark of an hour after one of five minutes is refused before anything is sent", () => {
    const ask = (first: "5m" | "1h" | undefined, second: "5m" | "1h") =>
      bodyOf([
        { role: "user", content: "Hello", cache: [{ ...(first ? { ttl: first } : {}) }] },
        { role: "assistant", content: "Hi", cache: [{ ttl: second }] },
      ]);
    expect(() => ask("5m", "1h")).toThrow("only before that of 5m");
    expect(() => ask(undefined, "1h")).toThrow("only before that of 5m");
    expect(() => ask("1h", "5m")).not.toThrow();
  });
});
