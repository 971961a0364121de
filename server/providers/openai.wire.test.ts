import OpenAI, { toFile } from "openai";
import type { ImageCall, TextCall } from "./define";
import openai from "./openai";
import { ioFor } from "./testing/vendor";
import { secondTurn, sendsWhatItsClientSends, type WireComparison } from "./testing/wire";

const SECRET = "sk-wire-1";
const clientAt = (baseURL: string) => new OpenAI({ apiKey: SECRET, baseURL, maxRetries: 0 });
const textIo = (baseUrl: string) =>
  ioFor(openai, "gpt-5.6-luna", "text", { baseUrl, credentials: { apiKey: SECRET } });
const imageIo = (baseUrl: string) =>
  ioFor(openai, "gpt-image-1", "image", { baseUrl, credentials: { apiKey: SECRET } });

const response = {
  json: { id: "resp_1", object: "response", status: "completed", model: "gpt-5.6-luna", output: [] },
};
const picture = { json: { created: 1, data: [{ b64_json: "iVBORw0K" }] } };

const ask: TextCall = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Name a fish." },
  ],
  maxOutputTokens: 200,
  responseFormat: { type: "text" },
};
const asked = {
  model: "gpt-5.6-luna",
  instructions: "Be brief.",
  input: [{ role: "user" as const, content: "Name a fish." }],
  max_output_tokens: 200,
  store: false,
};
const schema = {
  type: "object",
  properties: { fish: { type: "string" } },
  required: ["fish"],
  additionalProperties: false,
};
const loop: TextCall = { ...ask, ...secondTurn(schema) };
const looped = {
  model: "gpt-5.6-luna",
  input: [
    { role: "user" as const, content: "How deep and wide is the Elbe?" },
    { role: "assistant" as const, content: "I will look." },
    { type: "function_call" as const, call_id: "call_1", name: "depth_of", arguments: '{"river":"Elbe"}' },
    { type: "function_call" as const, call_id: "call_2", name: "width_of", arguments: '{"river":"Elbe"}' },
    { type: "function_call_output" as const, call_id: "call_1", output: "12 m" },
    { type: "function_call_output" as const, call_id: "call_2", output: '{"metres":300}' },
  ],
  max_output_tokens: 200,
  tools: ["depth_of", "width_of"].map((name) => ({ type: "function" as const, name, parameters: schema })),
  include: ["reasoning.encrypted_content"],
  store: false,
} as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming; // a tool without `strict`, which the client sends unchanged
const drawn: ImageCall = {
  prompt: "A red cube",
  width: 1024,
  height: 1024,
  quality: "high",
  count: 2,
  transparent: true,
  referenceImages: [],
};
const drawing = {
  model: "gpt-image-1",
  prompt: "A red cube",
  n: 2,
  size: "1024x1024" as const,
  quality: "high" as const,
  background: "transparent" as const,
  output_format: "png" as const,
};
const texts = ["The sea", "The river"];
const embeddingIo = (baseUrl: string) =>
  ioFor(openai, "text-embedding-3-small", "embedding", { baseUrl, credentials: { apiKey: SECRET } });
const png = Buffer.from("89504e470d0a1a0aff00", "hex");

const cases: WireComparison[] = [
  {
    title: "text with instructions",
    answer: response,
    theirs: (url) => clientAt(url).responses.create(asked),
    ours: async (url) => openai.text?.submit(ask, textIo(url)),
  },
  {
    title: "structured output with reasoning",
    answer: response,
    theirs: (url) =>
      clientAt(url).responses.create({
        ...asked,
        text: { format: { type: "json_schema", name: "answer", schema, strict: true } },
        reasoning: { effort: "high" },
      }),
    ours: async (url) =>
      openai.text?.submit(
        {
          ...ask,
          responseFormat: { type: "json_schema", name: "answer", schema },
          reasoningIntent: "deep",
        },
        textIo(url),
      ),
  },
  {
    title: "tools",
    answer: response,
    theirs: (url) =>
      clientAt(url).responses.create({
        ...asked,
        include: ["reasoning.encrypted_content"],
        tools: [{ type: "function", name: "find", description: "Finds.", parameters: schema, strict: true }],
      }),
    ours: async (url) =>
      openai.text?.submit(
        {
          ...ask,
          tools: [
            { type: "function", name: "find", description: "Finds.", parameters: schema, strict: true },
          ],
        },
        textIo(url),
      ),
  },
  {
    title: "top_p, of a model that takes it",
    answer: response,
    theirs: (url) => clientAt(url).responses.create({ ...asked, model: "gpt-4.1-mini", top_p: 0.5 }),
    ours: async (url) =>
      openai.text?.submit(
        { ...ask, settings: { topP: 0.5 } },
        ioFor(openai, "gpt-4.1-mini", "text", { baseUrl: url, credentials: { apiKey: SECRET } }),
      ),
  },
  {
    title: "results of tools",
    answer: response,
    theirs: (url) => clientAt(url).responses.create(looped),
    ours: async (url) => openai.text?.submit(loop, textIo(url)),
  },
  {
    title: "a tool that must be called, and no other with it",
    answer: response,
    theirs: (url) =>
      clientAt(url).responses.create({
        ...looped,
        tool_choice: { type: "function", name: "width_of" },
        parallel_tool_calls: false,
      }),
    ours: async (url) =>
      openai.text?.submit(
        { ...loop, toolChoice: { name: "width_of" }, parallelToolCalls: false },
        textIo(url),
      ),
  },
  {
    title: "flex processing",
    answer: response,
    theirs: (url) => clientAt(url).responses.create({ ...asked, service_tier: "flex" }),
    ours: async (url) => openai.text?.submit(ask, { ...textIo(url), tier: "flex" }),
  },
  {
    title: "a stream",
    answer: {
      headers: { "content-type": "text/event-stream" },
      text: `data: ${JSON.stringify({ type: "response.completed", response: response.json })}\n\n`,
    },
    theirs: async (url) => {
      for await (const _event of await clientAt(url).responses.create({ ...asked, stream: true })) {
        // read to the end, like ours
      }
    },
    ours: async (url) => openai.text?.stream?.(ask, textIo(url), () => {}),
  },
  {
    title: "an image",
    answer: picture,
    theirs: (url) => clientAt(url).images.generate(drawing),
    ours: async (url) => openai.image?.submit(drawn, imageIo(url)),
  },
  {
    title: "an image made of two others",
    answer: picture,
    theirs: async (url) => {
      const image = await Promise.all(
        ["a.png", "b.png"].map((name) => toFile(png, name, { type: "image/png" })),
      );
      return clientAt(url).images.edit({ ...drawing, image });
    },
    ours: async (url) =>
      openai.image?.submit(
        {
          ...drawn,
          referenceImages: ["a.png", "b.png"].map((filename) => ({
            bytes: png,
            mediaType: "image/png",
            filename,
          })),
        },
        imageIo(url),
      ),
  },
  {
    title: "speech",
    answer: { bytes: Buffer.from("OggS"), headers: { "content-type": "audio/opus" } },
    theirs: (url) =>
      clientAt(url).audio.speech.create({
        model: "tts-1",
        input: "Good morning.",
        voice: "alloy",
        response_format: "opus",
        speed: 1.25,
      }),
    ours: async (url) =>
      openai.speech?.submit(
        {
          text: "Good morning.",
          voiceId: "alloy",
          count: 1,
          diverse: true,
          container: "ogg",
          settings: { speed: 1.25 },
        },
        ioFor(openai, "tts-1", "speech", { baseUrl: url, credentials: { apiKey: SECRET } }),
      ),
  },
  {
    title: "embeddings",
    answer: { json: { object: "list", data: [] } },
    theirs: (url) =>
      clientAt(url).embeddings.create({ model: "text-embedding-3-small", input: texts, dimensions: 8 }),
    ours: async (url) => openai.embedding?.submit({ texts, dimensions: 8 }, embeddingIo(url)),
  },
];

sendsWhatItsClientSends("openai", cases, {
  "x-stainless-*": "the client's own telemetry",
  "x-client-request-id": "ours: the attempt, so that both sides' logs can be laid beside each other",
});
