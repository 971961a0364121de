import OpenAI from "openai";
import deepseek from "./deepseek";
import type { TextCall } from "./define";
import { ioFor } from "./testing/vendor";
import { secondChatTurn, secondTurn, sendsWhatItsClientSends, type WireComparison } from "./testing/wire";

/* The vendor publishes no client; its documentation recommends OpenAI's with another base URL. */

const SECRET = "sk-wire-1";
const model = "deepseek-flash";
const chatAt = (baseURL: string) => new OpenAI({ apiKey: SECRET, baseURL, maxRetries: 0 }).chat.completions;
const io = (url: string) => ioFor(deepseek, model, "text", { baseUrl: url, credentials: { apiKey: SECRET } });
const submit = async (url: string, call: TextCall) => deepseek.text?.submit(call, io(url));

const answer = { json: { id: "chat-1", choices: [{ message: { content: "Cod." }, finish_reason: "stop" }] } };
const ask: TextCall = {
  messages: [
    { role: "system", content: "Be brief, in JSON." },
    { role: "user", content: "Name a fish." },
  ],
  maxOutputTokens: 200,
  responseFormat: { type: "text" },
};
const asked = {
  model,
  messages: [
    { role: "system" as const, content: "Be brief, in JSON." },
    { role: "user" as const, content: "Name a fish." },
  ],
  max_tokens: 200,
  stream: false as const,
};
const parameters = { type: "object", properties: { fish: { type: "string" } } };

const loop: TextCall = { ...ask, ...secondTurn(parameters) };
const looped = {
  model,
  ...secondChatTurn(parameters),
  max_tokens: 200,
  stream: false as const,
  // A tool loop requires its earlier reasoning, which is missing here.
  ...{ thinking: { type: "disabled" } },
};

const cases: WireComparison[] = [
  {
    title: "text with a system message",
    answer,
    theirs: (url) => chatAt(url).create(asked),
    ours: (url) => submit(url, ask),
  },
  {
    title: "a JSON object",
    answer,
    theirs: (url) => chatAt(url).create({ ...asked, response_format: { type: "json_object" } }),
    ours: (url) => submit(url, { ...ask, responseFormat: { type: "json_object" } }),
  },
  {
    title: "thinking",
    answer,
    theirs: (url) => {
      // The vendor's own field, which the client sends unchanged.
      const thinking = { thinking: { type: "enabled" } };
      return chatAt(url).create({ ...asked, ...thinking, reasoning_effort: "high" });
    },
    ours: (url) => submit(url, { ...ask, reasoningIntent: "deep" }),
  },
  {
    title: "tools",
    answer,
    theirs: (url) =>
      chatAt(url).create({
        ...asked,
        tools: [{ type: "function", function: { name: "find", description: "Finds.", parameters } }],
      }),
    ours: (url) => submit(url, { ...ask, tools: [{ name: "find", description: "Finds.", parameters }] }),
  },
  {
    title: "settings, for which it must not think",
    answer,
    theirs: (url) => {
      const thinking = { thinking: { type: "disabled" } };
      return chatAt(url).create({
        ...asked,
        ...thinking,
        top_p: 0.5,
        stop: ["Cod"],
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
      });
    },
    ours: (url) =>
      submit(url, {
        ...ask,
        settings: { topP: 0.5, stop: ["Cod"], frequencyPenalty: 0.1, presencePenalty: 0.2 },
      }),
  },
  {
    title: "results of tools",
    answer,
    theirs: (url) => chatAt(url).create(looped),
    ours: (url) => submit(url, loop),
  },
  {
    title: "a tool that must be called, also where thinking was asked for",
    answer,
    theirs: (url) =>
      chatAt(url).create({ ...looped, tool_choice: { type: "function", function: { name: "width_of" } } }),
    ours: (url) => submit(url, { ...loop, toolChoice: { name: "width_of" }, reasoningIntent: "deep" }),
  },
  {
    title: "a stream",
    answer: { headers: { "content-type": "text/event-stream" }, text: "data: [DONE]\n\n" },
    theirs: async (url) => {
      const stream = { stream: true as const, stream_options: { include_usage: true } };
      for await (const _chunk of await chatAt(url).create({ ...asked, ...stream })) {
        // read to the end, like ours
      }
    },
    ours: async (url) => deepseek.text?.stream?.(ask, io(url), () => {}),
  },
];

sendsWhatItsClientSends("deepseek", cases, {
  "x-stainless-*": "the client's own telemetry",
});
