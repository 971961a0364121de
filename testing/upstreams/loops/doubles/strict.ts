import { event, USAGE } from "../../upstream";
import {
  assistants,
  CHUNK,
  callsWith,
  type Double,
  delta,
  ending,
  including,
  invalid,
  type Request,
  reasonOf,
  refusal,
  type Sent,
  usualChunks,
  withIds,
} from "../double";
import { ANSWER, NEXT_ANSWER } from "../task";

/* Servers that refuse unknown members, and xAI, which refuses messages without content. */

const MISTRAL_CALLS = callsWith(["D681PevKs", "s9Xk2mQpL", "hV4tR7wZc"]);
const thinking = (text: string, answer?: string) => [
  { type: "thinking", thinking: [{ type: "text", text }], closed: true },
  ...(answer === undefined ? [] : [{ type: "text", text: answer }]),
];
/** The members that a request, a message of each role and a tool call may have. */
const MISTRAL_TAKES: Record<string, string[]> = {
  body: [
    ...["model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed", "n"],
    ...["response_format", "tools", "tool_choice", "parallel_tool_calls", "presence_penalty"],
    ...["frequency_penalty", "prediction", "prompt_mode", "reasoning_effort", "safe_prompt", "metadata"],
  ],
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", "prefix"],
  tool: ["role", "content", "tool_call_id", "name"],
  call: ["id", "type", "function", "index"],
};

export const MISTRAL: Double = {
  name: "mistral",
  model: "magistral-medium-latest",
  from: [
    "https://github.com/langchain-ai/langchain/pull/24668", // ids of nine letters and digits
    "https://github.com/openclaw/openclaw/issues/57672",
    "https://github.com/BerriAI/litellm/issues/30835", // an unknown member
    "https://github.com/zeroclaw-labs/zeroclaw/issues/2693",
    "https://github.com/openai/openai-agents-python/issues/442", // stream_options
    "https://github.com/mistralai/client-ts/issues/106",
    "https://docs.mistral.ai/studio-api/conversations/reasoning", // reasoning in the content
  ],
  answers: [
    { content: thinking("Rome first: two tools."), tool_calls: MISTRAL_CALLS[0] },
    { content: thinking("Now Oslo."), tool_calls: MISTRAL_CALLS[1] },
    { content: thinking("All is known.", ANSWER) },
    { content: NEXT_ANSWER },
  ],
  // Calls come whole in the last chunk, with the usage.
  chunks: ({ content, tool_calls }) => [
    delta({ role: "assistant", content: "" }),
    ...(Array.isArray(content) ? content : [content]).map((part) =>
      delta({ content: typeof part === "string" || part.type === "text" ? (part.text ?? part) : [part] }),
    ),
    event({
      ...CHUNK,
      choices: [
        {
          index: 0,
          delta: {
            content: "",
            ...(tool_calls ? { tool_calls: tool_calls.map((call, index) => ({ ...call, index })) } : {}),
          },
          finish_reason: reasonOf(tool_calls),
        },
      ],
      usage: USAGE,
    }),
  ],
  refuse(request) {
    const unknown = unknownOf(request, MISTRAL_TAKES);
    if (unknown) {
      const detail = [{ type: "extra_forbidden", loc: unknown, msg: "Extra inputs are not permitted" }];
      return refusal(422, {
        object: "error",
        message: { detail },
        type: "invalid_request_error",
        code: null,
      });
    }
    const ids = request.messages.flatMap(({ tool_calls = [], tool_call_id }) => [
      ...tool_calls.map(({ id }) => id),
      ...(tool_call_id === undefined ? [] : [tool_call_id]),
    ]);
    const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    if (odd !== undefined)
      return mistralError(`Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`, "3280");
    const misplaced = request.messages.find(
      ({ role }, place) => role === "user" && request.messages[place - 1]?.role === "tool",
    );
    return misplaced && mistralError("Unexpected role 'user' after role 'tool'", "3230");
  },
  wrong: {
    "ids of more than nine characters": {
      status: 400,
      change: withIds((id) => `${id}_cpt_0123456789abcdef`),
    },
    "ids with an underscore": { status: 400, change: withIds((id) => `${id.slice(0, 8)}_`) },
    "thinking in a member that it does not know": {
      status: 422,
      change: including("reasoning_content", "Rome."),
    },
    "an assistant message with an id": { status: 422, change: including("id", "msg_1") },
    "a call with a member that it does not know": {
      status: 422,
      change: (messages) => {
        for (const { tool_calls = [] } of messages)
          for (const call of tool_calls) call.name = call.function.name;
      },
    },
  },
};

const mistralError = (message: string, code: string) =>
  refusal(400, { object: "error", message, type: "invalid_request_error", param: null, code });

/** The path of the first member that the server does not accept; undefined if it accepts all. */
function unknownOf(request: Request, takes: Record<string, string[]>): (string | number)[] | undefined {
  const notIn = (kind: string, value: object) =>
    Object.keys(value).find((name) => !takes[kind]?.includes(name));
  const ofBody = takes.body && notIn("body", request);
  if (ofBody !== undefined) return ["body", ofBody];
  for (const [place, message] of request.messages.entries()) {
    const loc = ["body", "messages", place, message.role];
    const ofMessage = notIn(message.role, message);
    if (ofMessage !== undefined) return [...loc, ofMessage];
    for (const [at, call] of (message.tool_calls ?? []).entries()) {
      const ofCall = notIn("call", call);
      if (ofCall !== undefined) return [...loc, "tool_calls", at, ofCall];
    }
  }
  return undefined;
}

const GROQ_CALLS = callsWith([
  "fc_2b1f0c9d-4a77-4d5e-9b6a-6a1f5f3c1e01",
  "fc_7e94d3aa-0c1b-4f28-8d57-1b2c3d4e5f02",
  "fc_c5d8e1f7-9a3e-4b60-a2c4-9f8e7d6c5b03",
]);
const GROQ_TAKES: Record<string, string[]> = {
  system: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "tool_calls", "reasoning"],
  tool: ["role", "content", "tool_call_id", "name"],
  call: ["id", "type", "function"],
};

export const GROQ: Double = {
  name: "groq",
  model: "openai/gpt-oss-120b",
  from: [
    "https://console.groq.com/docs/reasoning",
    "https://github.com/janhq/jan/issues/8136",
    "https://github.com/NousResearch/hermes-agent/issues/11089",
    "https://github.com/vercel/ai/pull/8057", // accepts what it returned as `reasoning`
  ],
  answers: [
    { content: "", reasoning: "Rome first: two tools.", tool_calls: GROQ_CALLS[0] },
    { content: "", reasoning: "Now Oslo.", tool_calls: GROQ_CALLS[1] },
    { content: ANSWER, reasoning: "All is known." },
    { content: NEXT_ANSWER, reasoning: "Sun is warmer than snow." },
  ],
  chunks: (spoken) => [
    ...usualChunks(spoken).slice(0, -2),
    // The usage is in a member of its own.
    ending(spoken.tool_calls ?? [], { ofChunk: { x_groq: { id: "req_1", usage: USAGE } } }),
  ],
  refuse(request) {
    const unknown = unknownOf(request, GROQ_TAKES);
    if (!unknown) return null;
    const [, , place, role, ...member] = unknown;
    return invalid(
      `'messages.${place}' : for 'role:${role}' the following must be satisfied[('messages.${place}' : property '${member.join(".")}' is unsupported)]`,
    );
  },
  wrong: {
    "its reasoning under another name": { status: 400, change: renamed("reasoning", "reasoning_content") },
    "an assistant message with an id": { status: 400, change: including("id", "msg_1") },
  },
};

function renamed(from: string, to: string) {
  return (messages: Sent[]): void => {
    for (const message of messages) {
      if (!(from in message)) continue;
      message[to] = message[from];
      delete message[from];
    }
  };
}

const XAI_CALLS = callsWith(["call-5faadddf-0", "call-5faadddf-1", "call-81c0e2b4-0"]);

export const XAI: Double = {
  name: "xai",
  model: "grok-4.3",
  from: [
    "https://docs.x.ai/developers/advanced-api-usage/troubleshooting-reasoning", // loses its reasoning without an error
    "https://github.com/langchain-ai/langchain/issues/34140",
    "https://github.com/AstrBotDevs/AstrBot/pull/6551", // a content list without parts counts as no content, and null is accepted
    "https://github.com/vercel/ai/issues/12425", // reasoning beside the completion
  ],
  answers: [
    { content: "", refusal: null, reasoning_content: "Rome first: two tools.", tool_calls: XAI_CALLS[0] },
    { content: "", refusal: null, reasoning_content: "Now Oslo.", tool_calls: XAI_CALLS[1] },
    { content: ANSWER, refusal: null, reasoning_content: "All is known." },
    { content: NEXT_ANSWER, refusal: null, reasoning_content: "Sun is warmer than snow." },
  ],
  usage: {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 415,
    completion_tokens_details: { reasoning_tokens: 400 },
  },
  // Calls come whole in one chunk.
  chunks({ tool_calls = [], refusal: _, ...spoken }) {
    const [opening = "", ...others] = usualChunks(spoken);
    return [
      opening,
      ...others.slice(0, -2),
      ...(tool_calls.length > 0
        ? [delta({ tool_calls: tool_calls.map((call, index) => ({ ...call, index })) })]
        : []),
      ending(tool_calls),
      event({ ...CHUNK, choices: [], usage: XAI.usage }),
    ];
  },
  refuse(request) {
    const empty = request.messages.find(
      ({ content, tool_calls }) =>
        (Array.isArray(content) && content.length === 0) ||
        content === undefined ||
        (!tool_calls && !content),
    );
    if (!empty) return null;
    const error = "Invalid request content: Each message must have at least one content element.";
    return refusal(400, { code: "Client specified an invalid argument", error });
  },
  wrong: {
    "content that is a list without parts": { status: 400, change: including("content", []) },
    "results with ids that no call has": {
      status: 400,
      change: (messages) => withIds((id) => `${id}-x`)(assistants({ messages })),
    },
  },
};
