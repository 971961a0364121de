import { expect, test } from "vitest";
import { ChatRequest } from "@/server/contract/openai";
import { ResponsesRequest } from "@/server/contract/openai-responses";
import { chatFrames } from "../openai/chat";
import { responseFrames } from "../openai/responses";
import type { Heard } from "../openai/result";
import { eventStream } from "./event-stream";

/*
 * Strict readers, such as openai-go before 3.43, take an empty line for the end of an event, and reject an event without
 * data.
 */

const head = { id: "wfr_1", madeAt: 0, model: "m", receiptId: "rcpt_1" as const };
async function* quietly(): AsyncGenerator<Heard> {
  yield { type: "quiet" };
  yield { type: "text", text: "Hello" };
  yield { type: "quiet" };
  yield {
    type: "succeeded",
    said: [{ text: "Hello", refusal: null, toolCalls: [], finish: "stop" }],
    tokens: null,
  };
}
const CHAT = ChatRequest.parse({ model: "m", messages: [{ role: "user", content: "Hi" }], stream: true });
const RESPONSES = ResponsesRequest.parse({ model: "m", input: "Hi", stream: true });
async function* pages() {
  yield { items: [], hasEnded: false };
  yield { items: ["a"], hasEnded: false };
  yield { items: [], hasEnded: false };
  yield { items: ["b"], hasEnded: false };
}

test.each([
  ["chat completions", () => chatFrames(CHAT, head, quietly())],
  ["responses", () => responseFrames(RESPONSES, head, quietly())],
  ["events of an execution", () => eventStream(pages(), (id) => ({ id, event: "token", data: id })).body],
])("every empty line of a stream of %s ends an event with data", async (_, open) => {
  let text = "";
  for await (const bytes of open() as AsyncIterable<Uint8Array>) text += Buffer.from(bytes).toString();
  expect(text).toContain(":\n");
  expect(text.endsWith("\n\n")).toBe(true);
  for (const block of text.slice(0, -2).split("\n\n")) expect(block).toMatch(/^data: /m);
});
