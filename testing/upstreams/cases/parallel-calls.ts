import { offering } from "../recorded";
import {
  COST,
  choice,
  chunk,
  completion,
  DONE,
  type Expected,
  event,
  stream,
  type UpstreamCase,
  USAGE,
  usageChunk,
} from "../upstream";

/* Answers with several calls or choices, and the members that distinguish them. */

const ONE_INDEX = [
  "ollama/ollama#15457",
  "LibreChat-AI/agents#260",
  "huggingface/smolagents#1958",
  "langchain-ai/langchain#34807",
];
const WEATHER = { name: "get_weather", arguments: '{"city":"Rome"}' };
const TIME = { name: "get_time", arguments: '{"tz":"CET"}' };
const request = offering("get_weather", "get_time");

type Piece = { index?: number | null; id?: string; type?: string; function?: object };
const calling = (...chunks: Piece[][]) =>
  stream(
    ...chunks.map((calls) => chunk({ tool_calls: calls })),
    chunk({}, { finish: "tool_calls" }),
    usageChunk(),
    DONE,
  );
const called = (first: object, second: object): Expected => ({
  calls: [
    { ...first, ...WEATHER },
    { ...second, ...TIME },
  ],
  finish: "tool_calls",
  cost: COST,
});
const begun = ({ name }: { name: string }) => ({ name, arguments: "" });
const rest = ({ arguments: text }: { arguments: string }) => ({ arguments: text });

const CALLS: readonly UpstreamCase[] = [
  {
    name: "calls-of-one-index",
    from: ONE_INDEX,
    dialect: "chat",
    request,
    streamed: calling(
      [{ index: 0, id: "call_a", function: begun(WEATHER) }],
      [{ index: 0, function: rest(WEATHER) }],
      [{ index: 0, id: "call_b", function: begun(TIME) }],
      [{ index: 0, function: rest(TIME) }],
    ),
    expect: called({ id: "call_a" }, { id: "call_b" }),
  },
  {
    name: "calls-of-one-index-in-one-chunk",
    from: ONE_INDEX,
    dialect: "chat",
    request: { ...request, parallel_tool_calls: true },
    streamed: calling([
      { index: 0, id: "call_a", type: "function", function: WEATHER },
      { index: 0, id: "call_b", type: "function", function: TIME },
    ]),
    expect: called({ id: "call_a" }, { id: "call_b" }),
  },
  {
    name: "calls-of-one-index-without-ids",
    from: ONE_INDEX,
    dialect: "chat",
    request,
    streamed: calling([{ index: 0, function: WEATHER }], [{ index: 0, function: TIME }]),
    expect: called({}, {}),
  },
  {
    name: "calls-without-index",
    from: ["https://platform.openai.com/docs/api-reference/chat-streaming"],
    dialect: "chat",
    request,
    streamed: calling(
      [{ id: "call_a", function: begun(WEATHER) }],
      [{ function: rest(WEATHER) }],
      [{ id: "call_b", function: TIME }],
    ),
    expect: called({ id: "call_a" }, { id: "call_b" }),
  },
  {
    name: "calls-by-turns",
    from: ["https://platform.openai.com/docs/api-reference/chat-streaming"],
    dialect: "chat",
    request,
    streamed: calling(
      [
        { index: 0, id: "call_a", function: begun(WEATHER) },
        { index: 1, id: "call_b", function: begun(TIME) },
      ],
      [{ index: 1, function: rest(TIME) }],
      [{ index: 0, function: rest(WEATHER) }],
    ),
    expect: called({ id: "call_a" }, { id: "call_b" }),
  },
  {
    name: "call-identified-in-every-piece",
    from: ["sgl-project/sglang#4067"],
    dialect: "chat",
    request,
    streamed: calling(
      [{ index: null, id: "0", function: begun(WEATHER) }],
      [{ index: null, id: "0", function: { name: "", arguments: WEATHER.arguments.slice(0, 8) } }],
      [{ index: null, id: "0", function: { name: WEATHER.name, arguments: WEATHER.arguments.slice(8) } }],
    ),
    expect: { calls: [{ id: "0", ...WEATHER }], finish: "tool_calls", cost: COST },
  },
];

const CHOICES: readonly UpstreamCase[] = [
  {
    name: "choices-out-of-order",
    from: ["openai/openai-python#3709"],
    dialect: "chat",
    whole: completion(
      {},
      { choices: [choice({ content: "Bye" }, "stop", { index: 1 }), choice({ content: "Hello" }, "stop")] },
    ),
    streamed: stream(
      event({ choices: [{ index: 1, delta: { content: "Bye" }, finish_reason: "stop" }] }),
      event({ choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] }),
      event({ choices: [], usage: USAGE }),
      DONE,
    ),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  // Reasoning is not an answer, but its tokens are charged.
  {
    name: "reasoning-and-no-content",
    from: ["NousResearch/hermes-agent#109205", "xorbitsai/xagent#625"],
    dialect: "chat",
    whole: completion({ content: null, reasoning_content: "Greet back." }),
    streamed: stream(
      chunk({ content: null, reasoning_content: "Greet back." }),
      chunk({}, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: COST },
  },
];

export const PARALLEL_CALLS: readonly UpstreamCase[] = [...CALLS, ...CHOICES];
