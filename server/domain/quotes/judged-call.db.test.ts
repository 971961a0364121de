import { expect, test } from "vitest";
import { ChatRequest } from "@/server/contract/openai";
import { ResponsesRequest } from "@/server/contract/openai-responses";
import { chooseRoute, getCapability } from "@/server/domain/catalog";
import type { ModelFacts, TextCall, TextMessage, TextSettings } from "@/server/providers/define";
import { estimate } from "./estimate";

/*
 * Lists each field of a request with its effect on the price bound. A new field fails the types or the
 * tests here until it is listed: count it in the bound, or do not send it.
 */

type Raised = "inputTokens" | "outputTokens" | "cacheWriteTokens";
type Probe = { more: Partial<TextCall>; raises: Raised[] };
/** A field that vendors do not price, or that the output limit covers. */
const free = (more: Partial<TextCall>): Probe => ({ more, raises: [] });
const read = (more: Partial<TextCall>, ...raises: Raised[]): Probe => ({
  more,
  raises: ["inputTokens", ...raises],
});

const tool = { type: "function", name: "look" };
const hello = { role: "user" as const, content: "Hello" };
const OF_SETTINGS: Record<keyof TextSettings, Probe> = {
  choices: { more: { settings: { choices: 3 } }, raises: ["outputTokens"] },
  members: read({ settings: { members: { top_k: 1 } } }),
  topP: free({ settings: { topP: 0.5 } }),
  stop: free({ settings: { stop: ["x"] } }),
  seed: free({ settings: { seed: 1 } }),
  frequencyPenalty: free({ settings: { frequencyPenalty: 1 } }),
  presencePenalty: free({ settings: { presencePenalty: 1 } }),
};
const OF_CALL: Record<keyof Omit<TextCall, "settings">, Probe> = {
  messages: read({ messages: [hello, hello] }),
  // The output bound comes from the input's own limit, which is the one that is sent.
  maxOutputTokens: free({ maxOutputTokens: 5 }),
  responseFormat: read({ responseFormat: { type: "json_schema", name: "a", schema: { type: "object" } } }),
  temperature: free({ temperature: 1 }),
  // Reasoning counts as output, within the same limit.
  reasoningIntent: free({ reasoningIntent: "maximum" }),
  tools: read({ tools: [tool] }),
  toolChoice: free({ toolChoice: "required" }),
  parallelToolCalls: free({ parallelToolCalls: false }),
  toolCache: read({ tools: [tool], toolCache: [{ at: 0 }] }, "cacheWriteTokens"),
};
const OF_MESSAGES: Record<string, { message: TextMessage; raises: Raised[] }> = {
  name: { message: { ...hello, name: "ada" }, raises: ["inputTokens"] },
  picture: {
    message: {
      ...hello,
      content: [
        { type: "text", text: "Hello" },
        { type: "image", mediaType: "image/png", bytes: Buffer.from("x"), width: 64, height: 64 },
      ],
    },
    raises: ["inputTokens"],
  },
  "a call": {
    message: {
      role: "assistant",
      content: "Hello",
      toolCalls: [{ id: "call_1", name: "look", arguments: "{}" }],
    },
    raises: ["inputTokens"],
  },
  "a result": { message: { role: "tool", content: "Hello", toolCallId: "call_1" }, raises: ["inputTokens"] },
  "a mark for the cache": { message: { ...hello, cache: [{}] }, raises: ["cacheWriteTokens"] },
};

const capability = getCapability("text.general.fast.v1");
const input = capability.input.parse({ messages: [hello] });
const route = chooseRoute(capability, input, { preferredModel: "sandbox-1" }, "http://connect");
const price = { per: "million_tokens", input: 1, output: 1, cacheWrite: { "5m": 1, "1h": 2 } } as const;
const model: ModelFacts = { ...route.model, price };
const plain: TextCall = { messages: [hello], responseFormat: { type: "text" } };
const boundsOf = async (more: Partial<TextCall>) =>
  (await estimate(capability, { input, route: { ...route, model }, call: { ...plain, ...more } })).bounds;

async function raisedBy(more: Partial<TextCall>): Promise<string[]> {
  const [before, after] = [await boundsOf({}), await boundsOf(more)];
  const figures: Raised[] = ["inputTokens", "outputTokens", "cacheWriteTokens"];
  return figures.filter((figure) => (after[figure] ?? 0) > (before[figure] ?? 0));
}

test.each(Object.entries({ ...OF_CALL, ...OF_SETTINGS }))(
  "%s of a call raises exactly the bounds that are listed for it",
  async (_name, { more, raises }) => expect(await raisedBy(more)).toEqual(raises),
);

test.each(Object.entries(OF_MESSAGES))(
  "%s of a message raises exactly the bounds that are listed for it",
  async (_name, { message, raises }) => {
    expect(await raisedBy({ messages: [message] })).toEqual(raises);
  },
);

/** Fields of OpenAI's interfaces. */
const BOTH = {
  /** These fields become part of the call above. */
  call: ["temperature", "parallel_tool_calls", "top_p", "tools", "tool_choice"],
  /** These fields select the model and the form of the answer. */
  route: ["model", "stream"],
  /** These fields reach no provider. */
  unsent: [
    ...["metadata", "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "store"],
    "stream_options",
  ],
  /** These fields accept only their usual value. */
  usual: ["service_tier", "top_logprobs"],
};
const CHAT = {
  call: [
    ...["messages", "max_completion_tokens", "max_tokens", "reasoning_effort", "response_format", "n"],
    ...["stop", "seed", "frequency_penalty", "presence_penalty"],
  ],
  usual: ["logprobs", "modalities"],
};
const RESPONSES = {
  call: ["input", "instructions", "max_output_tokens", "reasoning", "text"],
  unsent: ["include"],
  usual: ["previous_response_id", "conversation", "prompt", "background", "truncation"],
};

test("each field of OpenAI's interfaces is listed", () => {
  const judged = (own: object) => [BOTH, own].flatMap((table) => Object.values(table).flat()).toSorted();
  expect(Object.keys(ChatRequest.shape).toSorted()).toEqual(judged(CHAT));
  expect(Object.keys(ResponsesRequest.shape).toSorted()).toEqual(judged(RESPONSES));
});
