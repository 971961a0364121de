import { FunctionCallingConfigMode, GoogleGenAI, ThinkingLevel } from "@google/genai";
import type { ImageCall, TextCall } from "./define";
import google from "./google";
import { ioFor } from "./testing/vendor";
import { secondTurn, sendsWhatItsClientSends, type WireComparison } from "./testing/wire";

const SECRET = "AIza-wire-1";
const model = "gemini-3.8-flash";
const modelsAt = (baseUrl: string) => new GoogleGenAI({ apiKey: SECRET, httpOptions: { baseUrl } }).models;
const credentials = { apiKey: SECRET };
const submit = async (url: string, call: TextCall) =>
  google.text?.submit(call, ioFor(google, model, "text", { baseUrl: url, credentials }));

const json = { candidates: [{ content: { parts: [{ text: "Cod." }] }, finishReason: "STOP" }] };
const answer = { json };
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
const contents = [
  { role: "user", parts: [{ text: "Name a fish." }] },
  { role: "model", parts: [{ text: "Cod." }] },
  { role: "user", parts: [{ text: "Another." }] },
];
const systemInstruction = { parts: [{ text: "Be brief." }] };
const config = { systemInstruction, maxOutputTokens: 200 };
const schema = {
  type: "object",
  properties: { fish: { type: "string" } },
  required: ["fish"],
};
const loop: TextCall = { ...ask, ...secondTurn(schema) };
/** The vendor's documented placeholder, which models of this generation require for a call without its reasoning. */
const thoughtSignature = "skip_thought_signature_validator";
const looped = {
  model,
  contents: [
    { role: "user", parts: [{ text: "How deep and wide is the Elbe?" }] },
    {
      role: "model",
      parts: [
        { text: "I will look." },
        { functionCall: { id: "call_1", name: "depth_of", args: { river: "Elbe" } }, thoughtSignature },
        { functionCall: { id: "call_2", name: "width_of", args: { river: "Elbe" } } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "call_1", name: "depth_of", response: { output: "12 m" } } },
        { functionResponse: { id: "call_2", name: "width_of", response: { metres: 300 } } },
      ],
    },
  ],
};
const loopConfig = {
  maxOutputTokens: 200,
  tools: [
    {
      functionDeclarations: ["depth_of", "width_of"].map((name) => ({ name, parametersJsonSchema: schema })),
    },
  ],
};
const data = "iVBORw0KGgo=";
const bytes = Buffer.from(data, "base64");
const drawn: ImageCall = {
  prompt: "A red cube",
  width: 1376,
  height: 768,
  quality: "auto",
  count: 1,
  transparent: false,
  referenceImages: [],
};
const imageConfig = { aspectRatio: "16:9", imageSize: "1K" };
const drawing = { responseModalities: ["IMAGE"], imageConfig };
const imageModel = "gemini-nano-banana-2.1";
const draw = async (url: string, call: ImageCall) =>
  google.image?.submit(call, ioFor(google, imageModel, "image", { baseUrl: url, credentials }));

const cases: WireComparison[] = [
  {
    title: "text with a system instruction",
    answer,
    theirs: (url) => modelsAt(url).generateContent({ model, contents, config }),
    ours: (url) => submit(url, ask),
  },
  {
    title: "structured output with thinking",
    answer,
    theirs: (url) =>
      modelsAt(url).generateContent({
        model,
        contents,
        config: {
          ...config,
          responseMimeType: "application/json",
          responseJsonSchema: schema,
          thinkingConfig: { thinkingLevel: ThinkingLevel.HIGH },
        },
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
      modelsAt(url).generateContent({
        model,
        contents,
        config: {
          ...config,
          tools: [
            { functionDeclarations: [{ name: "find", description: "Finds.", parametersJsonSchema: schema }] },
          ],
        },
      }),
    ours: (url) =>
      submit(url, { ...ask, tools: [{ name: "find", description: "Finds.", parameters: schema }] }),
  },
  {
    title: "results of tools",
    answer,
    theirs: (url) => modelsAt(url).generateContent({ ...looped, config: loopConfig }),
    ours: (url) => submit(url, loop),
  },
  {
    title: "a required tool call",
    answer,
    theirs: (url) =>
      modelsAt(url).generateContent({
        ...looped,
        config: {
          ...loopConfig,
          toolConfig: {
            functionCallingConfig: {
              mode: FunctionCallingConfigMode.ANY,
              allowedFunctionNames: ["width_of"],
            },
          },
        },
      }),
    ours: (url) => submit(url, { ...loop, toolChoice: { name: "width_of" } }),
  },
  {
    title: "settings",
    answer,
    theirs: (url) =>
      modelsAt(url).generateContent({
        model,
        contents,
        config: {
          ...config,
          topP: 0.5,
          stopSequences: ["Cod"],
          seed: 7,
          frequencyPenalty: 0.1,
          presencePenalty: 0.2,
        },
      }),
    ours: (url) =>
      submit(url, {
        ...ask,
        settings: { topP: 0.5, stop: ["Cod"], seed: 7, frequencyPenalty: 0.1, presencePenalty: 0.2 },
      }),
  },
  {
    title: "a picture in the prompt",
    answer,
    theirs: (url) =>
      modelsAt(url).generateContent({
        model,
        contents: [
          { role: "user", parts: [{ text: "What?" }, { inlineData: { mimeType: "image/png", data } }] },
        ],
      }),
    ours: (url) =>
      submit(url, {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What?" },
              { type: "image", mediaType: "image/png", bytes },
            ],
          },
        ],
        responseFormat: { type: "text" },
      }),
  },
  {
    title: "a stream",
    answer: {
      headers: { "content-type": "text/event-stream" },
      text: `data: ${JSON.stringify(json)}\n\n`,
    },
    theirs: async (url) => {
      for await (const _piece of await modelsAt(url).generateContentStream({ model, contents, config })) {
        // read to the end, like ours
      }
    },
    ours: async (url) =>
      google.text?.stream?.(ask, ioFor(google, model, "text", { baseUrl: url, credentials }), () => {}),
  },
  {
    title: "an image",
    answer,
    theirs: (url) =>
      modelsAt(url).generateContent({
        model: imageModel,
        contents: [{ role: "user", parts: [{ text: "A red cube" }] }],
        config: drawing,
      }),
    ours: (url) => draw(url, drawn),
  },
  {
    title: "an image that is changed",
    answer,
    theirs: (url) =>
      modelsAt(url).generateContent({
        model: imageModel,
        contents: [
          { role: "user", parts: [{ inlineData: { mimeType: "image/png", data } }, { text: "A red cube" }] },
        ],
        config: drawing,
      }),
    ours: (url) => draw(url, { ...drawn, source: { bytes, mediaType: "image/png", filename: "source.png" } }),
  },
  {
    title: "embeddings",
    answer: { json: { embeddings: [] } },
    theirs: (url) =>
      modelsAt(url).embedContent({
        model: "gemini-embedding-001",
        contents: ["The sea", "The river"],
        config: { outputDimensionality: 128 },
      }),
    ours: async (url) =>
      google.embedding?.submit(
        { texts: ["The sea", "The river"], dimensions: 128 },
        ioFor(google, "gemini-embedding-001", "embedding", { baseUrl: url, credentials }),
      ),
  },
];

sendsWhatItsClientSends("google", cases, {
  "x-goog-api-client": "the client's own telemetry",
});
