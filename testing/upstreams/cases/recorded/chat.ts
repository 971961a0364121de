import { offering, recordings } from "../../recorded";

/* Recorded answers of servers that speak chat completions, at 1 and 2 US dollars a million tokens. */

const DEEPSEEK = "@ai-sdk/deepseek 2.0.10";
const CEREBRAS = "@ai-sdk/cerebras 2.0.82";
const GROQ = "@ai-sdk/groq 3.0.14";
const COMPATIBLE = "@ai-sdk/openai-compatible 2.0.17";
const XAI = "@ai-sdk/xai 3.0.31";

const calls = "tool_calls";
const sparkle = (id: string) => [{ id, name: "test-tool", arguments: '{"value":"Sparkle Day"}' }];
const JSON_TEXT = '{\n  "location": "San Francisco",\n  "condition": "cloudy",\n  "temperature": 7\n}';

export const RECORDED_CHAT = recordings("chat", {
  "deepseek-reasoning": {
    from: DEEPSEEK,
    expect: { text: 'The word "strawberry" contains three ins', finish: "stop", cost: 18 + 345 * 2 },
    ofStream: { text: 'The word "strawberry" contains three "r"s.', finish: "stop", cost: 18 + 219 * 2 },
  },
  "deepseek-tool-call": {
    from: DEEPSEEK,
    request: offering("weather"),
    expect: {
      calls: [
        {
          id: "call_00_9V0vrf86Pc9aelHCJMZqnJBo",
          name: "weather",
          arguments: '{"location": "San Francisco"}',
        },
      ],
      finish: calls,
      cost: 339 + 92 * 2,
    },
    ofStream: {
      calls: [
        {
          id: "call_00_ioIn7yN9p1ZOMNpDLwd4MgAF",
          name: "weather",
          arguments: '{"location": "San Francisco"}',
        },
      ],
      finish: calls,
      cost: 339 + 83 * 2,
    },
  },
  "deepseek-json": {
    from: DEEPSEEK,
    request: { response_format: { type: "json_object" } },
    expect: { text: JSON_TEXT, finish: "stop", cost: 495 + 144 * 2 },
    object: { text: '{"condition":"cloudy","location":"San Francisco","temperature":7}' },
  },
  "deepseek-cut-off": {
    from: DEEPSEEK,
    expect: { text: "## **Holiday Name: Gratitude of Small Th", finish: "length", cost: 13 + 300 * 2 },
    ofStream: { text: "## **Holiday Name:** Starlight Remembran", finish: "length", cost: 13 + 400 * 2 },
  },
  "cerebras-tool-call": {
    from: CEREBRAS,
    request: offering("nonUsefulTool"),
    expect: {
      calls: [{ id: "85e4fd267", name: "nonUsefulTool", arguments: "{}" }],
      finish: calls,
      cost: 322 + 65 * 2,
    },
    ofStream: {
      calls: [{ id: "bbd2b9d98", name: "nonUsefulTool", arguments: "{}" }],
      finish: calls,
      cost: 322 + 104 * 2,
    },
  },
  "cerebras-text-beside-call": {
    from: CEREBRAS,
    request: offering("nonUsefulTool"),
    expect: {
      text: '{"result":"2026"}',
      calls: [{ id: "0babb4517", name: "nonUsefulTool", arguments: "{}" }],
      finish: calls,
      cost: 394 + 63 * 2,
    },
    ofStream: {
      text: '{"result": "2026"}',
      calls: [{ id: "e0ecf32e0", name: "nonUsefulTool", arguments: "{}" }],
      finish: calls,
      cost: 433 + 122 * 2,
    },
  },
  // The first chunk has the prompt filter's result, without an id or a model.
  "azure-model-router": {
    from: "@ai-sdk/openai 3.0.17",
    expect: { text: "Capital of Denmark.", finish: "stop", cost: 15 + 78 * 2 },
  },
  "mistral-text": {
    from: "@ai-sdk/mistral 3.0.11",
    expect: { text: '**Holiday Name: "World Kindness Day of S', finish: "stop", cost: 13 + 434 * 2 },
  },
  "groq-tool-call-in-pieces": {
    from: GROQ,
    request: offering("test-tool"),
    expect: { calls: sparkle("call_O17Uplv4lJvD6DVdIvFFeRMw"), finish: calls, cost: 18 + 439 * 2 },
  },
  "groq-tool-call-with-empty-chunk": {
    from: GROQ,
    request: offering("searchGoogle"),
    expect: {
      calls: [
        {
          id: "chatcmpl-tool-b3b307239370432d9910d4b79b4dbbaa",
          name: "searchGoogle",
          arguments: '{"query": "latest news on ai"}',
        },
      ],
      finish: calls,
      cost: 226 + 20 * 2,
    },
  },
  "groq-whole-call-in-chunk": {
    from: GROQ,
    request: offering("test-tool"),
    expect: { calls: sparkle("call_O17Uplv4lJvD6DVdIvFFeRMw"), finish: calls, cost: 18 + 439 * 2 },
  },
  "gemini-compatible-signature": {
    from: COMPATIBLE,
    request: offering("check_flight"),
    expect: {
      calls: [{ name: "check_flight", arguments: '{"flight":"AA100"}' }],
      finish: calls,
      cost: 10 + 20 * 2,
    },
  },
  "gemini-compatible-parallel": {
    from: COMPATIBLE,
    request: offering("get_weather"),
    expect: {
      calls: [
        { name: "get_weather", arguments: '{"location":"Paris"}' },
        { name: "get_weather", arguments: '{"location":"London"}' },
      ],
      finish: calls,
      cost: 10 + 20 * 2,
    },
  },
  "xai-call-in-one-chunk": {
    from: XAI,
    request: offering("test-tool"),
    expect: { calls: sparkle("call_yfBEybNYi"), finish: calls, cost: 183 + 133 * 2 },
  },
  "xai-citations": {
    from: XAI,
    expect: { text: "Latest AI news", finish: "stop", cost: 4 + 30 * 2 },
  },
  "xai-chat-reasoning": {
    from: XAI,
    expect: { text: "The answer is 303.", finish: "stop", cost: 15 + 20 * 2 },
  },
});
