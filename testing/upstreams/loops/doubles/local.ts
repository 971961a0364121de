import { event, USAGE } from "../../upstream";
import {
  ANY_ID,
  assistants,
  brokenCall,
  CHUNK,
  callsWith,
  comesBack,
  type Double,
  delta,
  including,
  invalid,
  reasonOf,
  refusal,
  usualChunks,
  withArguments,
} from "../double";
import { ANSWER, NEXT_ANSWER } from "../task";

/* Servers that people run themselves. */

const VLLM_CALLS = callsWith([
  "chatcmpl-tool-3a25abfa70e041c8958862ab6a6550e9",
  "chatcmpl-tool-17f05fc9ab8148eaa5eb2485500ee18f",
  "chatcmpl-tool-9d1c0f7ae5b24d0f8a6f2d7f4c8b1e33",
]);
/** Members that vLLM writes even if they are null. */
const NULLS = { refusal: null, annotations: null, audio: null, function_call: null };

export const VLLM: Double = {
  name: "vllm",
  model: "Qwen/Qwen3-32B",
  from: [
    "https://docs.vllm.ai/en/stable/features/reasoning_outputs/",
    "https://github.com/vllm-project/vllm/issues/38488", // vLLM reads only `reasoning`, and silently drops `reasoning_content`
    "https://github.com/abetlen/llama-cpp-python/issues/1784", // the ids of its calls
    "https://github.com/vllm-project/vllm/issues/19419", // arguments that are not JSON
    "https://github.com/agentjido/req_llm/pull/428", // a content list without parts
  ],
  answers: [
    { content: null, ...NULLS, reasoning: "Rome first: two tools.", tool_calls: VLLM_CALLS[0] },
    { content: null, ...NULLS, reasoning: "Now Oslo.", tool_calls: VLLM_CALLS[1] },
    { content: ANSWER, ...NULLS, reasoning: "All is known.", tool_calls: [] },
    { content: NEXT_ANSWER, ...NULLS, reasoning: null, tool_calls: [] },
  ],
  chunks: ({ refusal: _, annotations: __, audio: ___, function_call: ____, ...spoken }) =>
    usualChunks(spoken.reasoning === null ? { ...spoken, reasoning: undefined } : spoken),
  refuse(request) {
    const empty = request.messages.some(({ content }) => Array.isArray(content) && content.length === 0);
    if (empty) return invalid("1 validation error for ValidatorIterator: Input should be a valid string");
    return brokenCall(request) && invalid("Expecting value: line 1 column 1 (char 0)");
  },
  back: ({ annotations: _, audio: __, function_call: ___, tool_calls = [], reasoning, ...spoken }) =>
    comesBack({
      ...spoken,
      ...(reasoning === null ? {} : { reasoning }),
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    }),
  wrong: {
    "arguments that are an empty text": { status: 400, change: withArguments("") },
    "content that is a list without parts": { status: 400, change: including("content", []) },
  },
};

const LLAMA_CALLS = callsWith(["", "", ""]);

export const LLAMA_CPP: Double = {
  name: "llama-cpp",
  model: "qwen3.6-27b-q8_0",
  from: [
    "https://github.com/ggml-org/llama.cpp/issues/20198", // arguments as an object
    "https://github.com/ggml-org/llama.cpp/issues/11992", // calls without an id
    "https://github.com/ggml-org/llama.cpp/issues/25510", // arguments that are not JSON cause a 500
  ],
  answers: [
    { content: "", reasoning_content: "Rome first: two tools.", tool_calls: LLAMA_CALLS[0] },
    { content: "", reasoning_content: "Now Oslo.", tool_calls: LLAMA_CALLS[1] },
    { content: ANSWER, reasoning_content: "All is known." },
    { content: NEXT_ANSWER, reasoning_content: "Sun is warmer than snow." },
  ].map(({ tool_calls, ...spoken }) => ({
    ...spoken,
    ...(tool_calls ? { tool_calls: tool_calls.map(withObject) } : {}),
  })),
  // Arguments are streamed as text.
  chunks: ({ tool_calls, ...spoken }) =>
    usualChunks({ ...spoken, ...(tool_calls ? { tool_calls: tool_calls.map(withText) } : {}) }),
  refuse: (request) =>
    brokenCall(request) &&
    refusal(500, {
      error: {
        code: 500,
        message: "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error",
        type: "server_error",
      },
    }),
  // The server gave no ids, so any ids will do; the agreement of calls and results is checked for every server.
  back: ({ tool_calls, ...spoken }) =>
    comesBack({
      ...spoken,
      ...(tool_calls ? { tool_calls: tool_calls.map((call) => ({ ...withText(call), id: ANY_ID })) } : {}),
    }),
  wrong: {
    "arguments that are cut off": { status: 500, change: withArguments('{"city": "Ro') },
    "arguments that are an empty text": { status: 500, change: withArguments("") },
  },
};

type Called = { id?: string; function: { name: string; arguments: unknown }; [member: string]: unknown };
function withObject({ function: { name, arguments: text }, ...call }: Called): Called {
  return { ...call, function: { name, arguments: JSON.parse(String(text)) } };
}
function withText({ function: { name, arguments: value }, ...call }: Called): Called {
  return { ...call, function: { name, arguments: JSON.stringify(value) } };
}

const OLLAMA_CALLS = callsWith(["call_lyywui55", "call_0scw2dos", "call_hk81qg8b"]);

export const OLLAMA: Double = {
  name: "ollama",
  model: "qwen3:8b",
  from: [
    "https://github.com/ollama/ollama/issues/15457", // each call has the index 0
    "https://github.com/ollama/ollama/blob/main/openai/openai.go", // `reasoning`, and its refusals
    "https://github.com/deepset-ai/haystack-core-integrations/pull/3321", // the ids of its calls
  ],
  answers: [
    { content: "", reasoning: "Rome first: two tools.", tool_calls: OLLAMA_CALLS[0] },
    { content: "", reasoning: "Now Oslo.", tool_calls: OLLAMA_CALLS[1] },
    { content: ANSWER, reasoning: "All is known." },
    { content: NEXT_ANSWER },
  ].map(({ tool_calls, ...spoken }) => ({
    ...spoken,
    ...(tool_calls ? { tool_calls: tool_calls.map((call) => ({ ...call, index: 0 })) } : {}),
  })),
  // The server sends each call in one chunk.
  chunks: ({ tool_calls = [], ...spoken }) => [
    ...usualChunks(spoken).slice(1, -2),
    ...tool_calls.map((call) => delta({ role: "assistant", content: "", tool_calls: [call] })),
    event({
      ...CHUNK,
      choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: reasonOf(tool_calls) }],
    }),
    event({ ...CHUNK, choices: [], usage: USAGE }),
  ],
  refuse(request) {
    if (brokenCall(request)) return invalid("invalid tool call arguments");
    const bare = assistants(request).some(({ content, tool_calls }) => content == null && !tool_calls);
    return bare ? invalid("invalid message content type: <nil>") : null;
  },
  wrong: {
    "arguments that are an object": { status: 400, change: withArguments({ city: "Rome" }) },
    "an answer without content": {
      status: 400,
      change: (messages) => {
        const answer = messages.find(({ role, tool_calls }) => role === "assistant" && !tool_calls);
        if (answer) answer.content = null;
      },
    },
  },
};
