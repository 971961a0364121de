import Anthropic from "@anthropic-ai/sdk";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import anthropic from "./anthropic";
import { fitsOutputFormat } from "./anthropic-ports/request";
import type { TextCall } from "./define";
import { ioFor } from "./testing/vendor";
import { secondTurn, sendsWhatItsClientSends, type WireComparison } from "./testing/wire";

const SECRET = "sk-ant-wire-1";
const model = "claude-opus-5-5";
const messagesAt = (baseURL: string) => new Anthropic({ apiKey: SECRET, baseURL, maxRetries: 0 }).messages;
const submit = async (url: string, call: TextCall) =>
  anthropic.text?.submit(
    call,
    ioFor(anthropic, model, "text", { baseUrl: url, credentials: { apiKey: SECRET } }),
  );

const answer = {
  json: { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: "end_turn" },
};
const ask: TextCall = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Name a fish." },
    { role: "assistant", content: "Cod." },
    { role: "user", content: "Another." },
  ],
  maxOutputTokens: 200,
  responseFormat: { type: "text" },
};
const asked = {
  model,
  max_tokens: 200,
  system: "Be brief.",
  messages: [
    { role: "user" as const, content: "Name a fish." },
    { role: "assistant" as const, content: "Cod." },
    { role: "user" as const, content: "Another." },
  ],
};
const schema = {
  type: "object" as const,
  properties: { fish: { type: "string" } },
  required: ["fish"],
  additionalProperties: false,
};
const loop: TextCall = { ...ask, ...secondTurn(schema) };
const looped = {
  model,
  max_tokens: 200,
  messages: [
    { role: "user" as const, content: "How deep and wide is the Elbe?" },
    {
      role: "assistant" as const,
      content: [
        { type: "text" as const, text: "I will look." },
        { type: "tool_use" as const, id: "call_1", name: "depth_of", input: { river: "Elbe" } },
        { type: "tool_use" as const, id: "call_2", name: "width_of", input: { river: "Elbe" } },
      ],
    },
    {
      role: "user" as const,
      content: [
        { type: "tool_result" as const, tool_use_id: "call_1", content: "12 m" },
        { type: "tool_result" as const, tool_use_id: "call_2", content: '{"metres":300}' },
      ],
    },
  ],
  tools: ["depth_of", "width_of"].map((name) => ({ name, input_schema: schema })),
};
const data = "iVBORw0KGgo=";

const cases: WireComparison[] = [
  {
    title: "text with a system prompt",
    answer,
    theirs: (url) => messagesAt(url).create(asked),
    ours: (url) => submit(url, ask),
  },
  {
    title: "structured output with adaptive thinking",
    answer,
    theirs: (url) =>
      messagesAt(url).create({
        ...asked,
        thinking: { type: "adaptive" },
        output_config: { effort: "high", format: { type: "json_schema", schema } },
      }),
    ours: (url) =>
      submit(url, {
        ...ask,
        responseFormat: { type: "json_schema", name: "answer", schema },
        reasoningIntent: "deep",
      }),
  },
  {
    title: "tools",
    answer,
    theirs: (url) =>
      messagesAt(url).create({
        ...asked,
        tools: [{ name: "find", description: "Finds.", input_schema: schema }],
      }),
    ours: (url) =>
      submit(url, {
        ...ask,
        tools: [{ type: "function", name: "find", description: "Finds.", parameters: schema }],
      }),
  },
  {
    title: "results of tools",
    answer,
    theirs: (url) => messagesAt(url).create(looped),
    ours: (url) => submit(url, loop),
  },
  {
    title: "some tool must be called, one at a time",
    answer,
    theirs: (url) =>
      messagesAt(url).create({
        ...looped,
        model: "claude-haiku-4-5",
        tool_choice: { type: "any", disable_parallel_tool_use: true },
      }),
    ours: async (url) => {
      const io = ioFor(anthropic, "claude-haiku-4-5", "text", {
        baseUrl: url,
        credentials: { apiKey: SECRET },
      });
      return anthropic.text?.submit({ ...loop, toolChoice: "required", parallelToolCalls: false }, io);
    },
  },
  {
    title: "one tool at a time, as the model likes",
    answer,
    theirs: (url) =>
      messagesAt(url).create({ ...looped, tool_choice: { type: "auto", disable_parallel_tool_use: true } }),
    ours: (url) => submit(url, { ...loop, parallelToolCalls: false }),
  },
  {
    title: "no tool may be called",
    answer,
    theirs: (url) => messagesAt(url).create({ ...looped, tool_choice: { type: "none" } }),
    ours: (url) => submit(url, { ...loop, toolChoice: "none" }),
  },
  {
    title: "stop sequences",
    answer,
    theirs: (url) => messagesAt(url).create({ ...asked, stop_sequences: ["Cod", "Eel"] }),
    ours: (url) => submit(url, { ...ask, settings: { stop: ["Cod", "Eel"] } }),
  },
  {
    title: "a picture",
    answer,
    theirs: (url) =>
      messagesAt(url).create({
        model,
        max_tokens: 200,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image", source: { type: "base64", media_type: "image/png", data } },
            ],
          },
        ],
      }),
    ours: (url) =>
      submit(url, {
        ...ask,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image", mediaType: "image/png", bytes: Buffer.from(data, "base64") },
            ],
          },
        ],
      }),
  },
  {
    title: "a stream",
    answer: {
      headers: { "content-type": "text/event-stream" },
      text: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    },
    theirs: async (url) => {
      for await (const _event of await messagesAt(url).create({ ...asked, stream: true })) {
        // read to the end, like ours
      }
    },
    ours: async (url) => {
      const io = ioFor(anthropic, model, "text", { baseUrl: url, credentials: { apiKey: SECRET } });
      return anthropic.text?.stream?.(ask, io, () => {});
    },
  },
];

sendsWhatItsClientSends("anthropic", cases, {
  "x-stainless-*": "the client's own telemetry",
});

test("the vendor's client leaves a schema unchanged that fits the output format", () => {
  const fish: Record<string, Json> = {
    ...schema,
    properties: {
      fish: { type: "string", description: "Its name.", format: "hostname" },
      kinds: { type: "array", items: { anyOf: [{ type: "null" }, { enum: ["cod", 1] }] }, minItems: 1 },
    },
  };
  expect(fitsOutputFormat(fish)).toBe(true);
  // The parameter's type is the client's own, for plain JSON.
  expect(transformJSONSchema(fish as Parameters<typeof transformJSONSchema>[0])).toEqual(fish);
});
