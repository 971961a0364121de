import OpenAI from "openai";
import type { ModelFacts, TextCall } from "./define";
import openaiCompatible from "./openai-compatible";
import { ioFor } from "./testing/vendor";
import { secondChatTurn, secondTurn, sendsWhatItsClientSends, type WireComparison } from "./testing/wire";

/* Chat completions servers are called with OpenAI's client and another base URL. */

const SECRET = "sk-wire-1";
const model = "acme-small";
const chatAt = (baseURL: string) => new OpenAI({ apiKey: SECRET, baseURL, maxRetries: 0 }).chat.completions;
const facts: ModelFacts = openaiCompatible.modelsFrom!(`${model}:1:2`)[0]!;
const provider = { ...openaiCompatible, models: [facts] };
const io = (url: string) => ioFor(provider, model, "text", { baseUrl: url, credentials: { apiKey: SECRET } });
const submit = async (url: string, call: TextCall) => openaiCompatible.text?.submit(call, io(url));

const answer = { json: { id: "chat-1", choices: [{ message: { content: "Cod." }, finish_reason: "stop" }] } };
const parameters = { type: "object", properties: { river: { type: "string" } } };
const loop: TextCall = { ...secondTurn(parameters, ""), responseFormat: { type: "text" } };
const looped = { model, ...secondChatTurn(parameters, null), stream: false as const };

/** Members outside OpenAI's interface, which the client sends unchanged. */
const members = { top_k: 5, chat_template_kwargs: { enable_thinking: false } };

const cases: WireComparison[] = [
  {
    title: "settings, and members that such servers know",
    answer,
    theirs: (url) =>
      chatAt(url).create({
        ...looped,
        ...members,
        top_p: 0.5,
        stop: ["a"],
        seed: 7,
        n: 2,
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
      }),
    ours: (url) =>
      submit(url, {
        ...loop,
        settings: {
          members,
          topP: 0.5,
          stop: ["a"],
          seed: 7,
          choices: 2,
          frequencyPenalty: 0.1,
          presencePenalty: 0.2,
        },
      }),
  },
  {
    title: "results of tools",
    answer,
    theirs: (url) => chatAt(url).create(looped),
    ours: (url) => submit(url, loop),
  },
  {
    title: "some tool must be called, one at a time",
    answer,
    theirs: (url) => chatAt(url).create({ ...looped, tool_choice: "required", parallel_tool_calls: false }),
    ours: (url) => submit(url, { ...loop, toolChoice: "required", parallelToolCalls: false }),
  },
  {
    title: "a tool that must be called, as a stream",
    answer: { headers: { "content-type": "text/event-stream" }, text: "data: [DONE]\n\n" },
    theirs: async (url) => {
      const stream = { stream: true as const, stream_options: { include_usage: true } };
      const tool_choice = { type: "function" as const, function: { name: "width_of" } };
      for await (const _chunk of await chatAt(url).create({ ...looped, ...stream, tool_choice })) {
        // read to the end, like ours
      }
    },
    ours: async (url) =>
      openaiCompatible.text?.stream?.({ ...loop, toolChoice: { name: "width_of" } }, io(url), () => {}),
  },
];

sendsWhatItsClientSends("openai-compatible", cases, {
  "x-stainless-*": "the client's own telemetry",
});
