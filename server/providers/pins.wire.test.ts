import Anthropic from "@anthropic-ai/sdk";
import { FunctionCallingConfigMode, GoogleGenAI, ThinkingLevel } from "@google/genai";
import OpenAI from "openai";
import anthropic from "./anthropic";
import deepseek from "./deepseek";
import type { Tier } from "./define";
import google from "./google";
import openai from "./openai";
import { type PinCall, sendPin } from "./pins";
import type { Provider } from "./provider";
import { ioFor, pinApi } from "./testing/vendor";
import { sendsWhatItsClientSends } from "./testing/wire";

/* Compares a pin's request with that of the vendor's own client for the same call: no member may differ. */

const SECRET = "sk-wire-1";
const parameters = {
  type: "object" as const,
  properties: { fish: { type: "string" } },
  required: ["fish"],
  additionalProperties: false,
};
const call: PinCall = {
  instructions: "Be brief.",
  input: "Name a fish.",
  sampling: {},
  responseFormat: { type: "json_schema", name: "answer", schema: parameters, strict: true },
  tools: [{ type: "function", function: { name: "find", description: "Finds.", parameters, strict: true } }],
  toolChoice: { type: "function", function: { name: "find" } },
};
const flat = { type: "function" as const, name: "find", description: "Finds.", parameters, strict: true };
const nested = {
  type: "function" as const,
  function: { name: "find", description: "Finds.", parameters, strict: true },
};

const ours =
  (provider: Provider, api: string, model: string, more: Partial<PinCall>, tier: Tier = "standard") =>
  (url: string) => {
    const io = ioFor(provider, model, "text", { baseUrl: url, credentials: { apiKey: SECRET }, tier });
    const pin = pinApi(provider, api);
    return sendPin(pin, Buffer.from(JSON.stringify(pin.body({ ...call, ...more }, io.model, tier))), io);
  };
const openaiAt = (baseURL: string) => new OpenAI({ apiKey: SECRET, baseURL, maxRetries: 0 });

const telemetry = {
  "x-stainless-*": "the client's own telemetry",
  "x-goog-api-client": "the client's own telemetry",
  "x-client-request-id": "ours: the execution, so that both sides' logs can be laid beside each other",
};

sendsWhatItsClientSends(
  "a pin of openai",
  [
    {
      title: "responses",
      answer: { json: {} },
      theirs: (url) =>
        openaiAt(url).responses.create({
          model: "gpt-4.1-mini",
          instructions: "Be brief.",
          input: "Name a fish.",
          temperature: 0,
          top_p: 0.5,
          max_output_tokens: 200,
          text: {
            verbosity: "low",
            format: { type: "json_schema", name: "answer", schema: parameters, strict: true },
          },
          tools: [flat],
          tool_choice: { type: "function", name: "find" },
          store: false,
        }),
      ours: ours(openai, "responses", "gpt-4.1-mini", {
        sampling: { temperature: 0, topP: 0.5, maxOutputTokens: 200, verbosity: "low" },
      }),
    },
    {
      title: "responses that may wait",
      answer: { json: {} },
      theirs: (url) =>
        openaiAt(url).responses.create({
          model: "gpt-5.6-sol",
          input: "Name a fish.",
          instructions: "Be brief.",
          reasoning: { effort: "xhigh" },
          service_tier: "flex",
          store: false,
        }),
      ours: ours(
        openai,
        "responses",
        "gpt-5.6-sol",
        {
          sampling: { reasoningEffort: "xhigh" },
          responseFormat: undefined,
          tools: undefined,
          toolChoice: undefined,
        },
        "flex",
      ),
    },
    {
      title: "chat completions",
      answer: { json: {} },
      theirs: (url) =>
        openaiAt(url).chat.completions.create({
          model: "gpt-4.1-mini",
          messages: [
            { role: "developer", content: "Be brief." },
            { role: "user", content: "Name a fish." },
          ],
          temperature: 0,
          max_completion_tokens: 200,
          seed: 7,
          stop: ["END"],
          frequency_penalty: 0.5,
          presence_penalty: -0.5,
          response_format: {
            type: "json_schema",
            json_schema: { name: "answer", schema: parameters, strict: true },
          },
          tools: [nested],
          tool_choice: { type: "function", function: { name: "find" } },
          store: false,
        }),
      ours: ours(openai, "chat-completions", "gpt-4.1-mini", {
        sampling: {
          temperature: 0,
          maxOutputTokens: 200,
          seed: 7,
          stop: ["END"],
          frequencyPenalty: 0.5,
          presencePenalty: -0.5,
        },
      }),
    },
  ],
  telemetry,
);

sendsWhatItsClientSends(
  "a pin of deepseek",
  [
    {
      title: "chat completions",
      answer: { json: {} },
      theirs: (url) => {
        const thinking = { thinking: { type: "disabled" } }; // the vendor's own field, which the client sends unchanged
        return openaiAt(url).chat.completions.create({
          model: "deepseek-flash",
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "Name a fish." },
          ],
          ...thinking,
          temperature: 0,
          max_tokens: 200,
          response_format: { type: "json_object" },
          tools: [nested],
          tool_choice: "required",
        });
      },
      ours: ours(deepseek, "chat-completions", "deepseek-flash", {
        sampling: { thinking: "disabled", temperature: 0, maxOutputTokens: 200 },
        responseFormat: { type: "json_object" },
        toolChoice: "required",
      }),
    },
    {
      title: "responses",
      answer: { json: {} },
      theirs: (url) =>
        openaiAt(url).responses.create({
          model: "deepseek-flash",
          instructions: "Be brief.",
          input: "Name a fish.",
          max_output_tokens: 200,
          reasoning: { effort: "none" },
          tools: [flat],
          tool_choice: { type: "function", name: "find" },
        }),
      ours: ours(deepseek, "responses", "deepseek-flash", {
        sampling: { maxOutputTokens: 200, reasoningEffort: "none" },
        responseFormat: undefined,
      }),
    },
  ],
  telemetry,
);

sendsWhatItsClientSends(
  "a pin of anthropic",
  [
    {
      title: "messages",
      answer: { json: {} },
      theirs: (url) =>
        new Anthropic({ apiKey: SECRET, baseURL: url, maxRetries: 0 }).messages.create({
          model: "claude-opus-5-5",
          max_tokens: 200,
          system: "Be brief.",
          messages: [{ role: "user", content: "Name a fish." }],
          stop_sequences: ["END"],
          thinking: { type: "adaptive" },
          output_config: { effort: "high", format: { type: "json_schema", schema: parameters } },
          tools: [{ name: "find", description: "Finds.", input_schema: parameters, strict: true }],
          tool_choice: { type: "tool", name: "find" },
        }),
      ours: ours(anthropic, "messages", "claude-opus-5-5", {
        sampling: { maxOutputTokens: 200, stop: ["END"], reasoningEffort: "high", thinking: "enabled" },
      }),
    },
  ],
  telemetry,
);

sendsWhatItsClientSends(
  "a pin of google",
  [
    {
      title: "generateContent",
      answer: { json: { candidates: [] } },
      theirs: (url) =>
        new GoogleGenAI({ apiKey: SECRET, httpOptions: { baseUrl: url } }).models.generateContent({
          model: "gemini-3.1-pro-preview",
          contents: [{ role: "user", parts: [{ text: "Name a fish." }] }],
          config: {
            systemInstruction: { parts: [{ text: "Be brief." }] },
            temperature: 0.5,
            topP: 0.9,
            topK: 40,
            maxOutputTokens: 200,
            seed: 7,
            stopSequences: ["END"],
            thinkingConfig: { thinkingLevel: ThinkingLevel.LOW },
            responseMimeType: "application/json",
            responseJsonSchema: parameters,
            tools: [
              {
                functionDeclarations: [
                  { name: "find", description: "Finds.", parametersJsonSchema: parameters },
                ],
              },
            ],
            toolConfig: {
              functionCallingConfig: {
                mode: FunctionCallingConfigMode.ANY,
                allowedFunctionNames: ["find"],
              },
            },
          },
        }),
      ours: ours(google, "generate-content", "gemini-3.1-pro-preview", {
        sampling: {
          temperature: 0.5,
          topP: 0.9,
          topK: 40,
          maxOutputTokens: 200,
          seed: 7,
          stop: ["END"],
          reasoningEffort: "LOW",
        },
        tools: [{ name: "find", description: "Finds.", parameters }],
      }),
    },
  ],
  telemetry,
);
