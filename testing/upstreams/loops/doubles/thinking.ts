import { isDeepStrictEqual } from "node:util";
import { type Answer, event, USAGE } from "../../upstream";
import {
  assistants,
  CHUNK,
  callsWith,
  type Double,
  delta,
  ending,
  halves,
  including,
  invalid,
  type Request,
  reasonOf,
  refusal,
  type Sent,
  usualChunks,
  withIds,
  without,
} from "../double";
import { ANSWER, NEXT_ANSWER } from "../task";

/* Servers of reasoning models, which require their reasoning back within a loop. */

const KIMI_CALLS = callsWith(["functions.get_weather:0", "functions.get_time:1", "functions.get_weather:2"]);

export const KIMI: Double = {
  name: "kimi",
  model: "kimi-k2.6",
  from: [
    "https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model",
    "https://github.com/anomalyco/opencode/issues/10996",
    "https://github.com/vllm-project/vllm/pull/46344", // the ids of its calls
    "https://github.com/langbot-app/LangBot/issues/1040",
  ],
  answers: [
    { content: "", reasoning_content: "Rome first: two tools.", tool_calls: KIMI_CALLS[0] },
    { content: "", reasoning_content: "Now Oslo.", tool_calls: KIMI_CALLS[1] },
    { content: ANSWER, reasoning_content: "All is known." },
    { content: NEXT_ANSWER, reasoning_content: "Sun is warmer than snow." },
  ],
  chunks: (spoken) => [
    ...usualChunks(spoken).slice(0, -2),
    // The usage is in the choice of the last chunk (earendil-works/pi#2017).
    ending(spoken.tool_calls ?? [], { ofChoice: { usage: USAGE } }),
  ],
  refuse(request) {
    const bare = assistants(request).find(
      ({ tool_calls, reasoning_content }) => tool_calls && typeof reasoning_content !== "string",
    );
    return (
      bare &&
      invalid(
        `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${bare.index}`,
      )
    );
  },
  wrong: {
    "a history without its thinking": { status: 400, change: without("reasoning_content") },
    "results with ids that no call has": {
      status: 400,
      change: (messages) => {
        for (const message of messages) if (message.role === "tool") message.tool_call_id = "call_1";
      },
    },
  },
};

const DEEPSEEK_CALLS = callsWith([
  "call_00_TYbQjD0qdGrCh4rPmBvHfKWz",
  "call_01_9cVfA1mZsUoLw5XeKtRi27Ng",
  "call_00_hB3yPq8JxD6uS0nEaWlC4oTv",
]);

export const DEEPSEEK: Double = {
  name: "deepseek",
  model: "deepseek-v4-pro",
  from: [
    "https://api-docs.deepseek.com/guides/thinking_mode",
    "https://github.com/anomalyco/opencode/issues/24722",
    "https://github.com/NousResearch/hermes-agent/pull/15228", // also the answer of a turn with calls
    "https://github.com/deepseek-ai/deepseek-harness/discussions/739", // empty reasoning must come back as empty
  ],
  answers: [
    { content: "", reasoning_content: "Rome first: two tools.", tool_calls: DEEPSEEK_CALLS[0] },
    { content: "", reasoning_content: "", tool_calls: DEEPSEEK_CALLS[1] },
    { content: ANSWER, reasoning_content: "All is known." },
    { content: NEXT_ANSWER, reasoning_content: "Sun is warmer than snow." },
  ],
  chunks: (spoken) => [
    delta({ role: "assistant", content: null, reasoning_content: "" }),
    ...usualChunks(spoken),
  ],
  refuse(request) {
    const { thinking } = request as { thinking?: { type?: string } };
    if (thinking?.type === "disabled") return null;
    const bare = turnsOf(request).some(
      (turn) =>
        turn.some(({ tool_calls }) => tool_calls) &&
        turn.some(
          ({ role, reasoning_content }) => role === "assistant" && typeof reasoning_content !== "string",
        ),
    );
    return bare
      ? invalid("The `reasoning_content` in the thinking mode must be passed back to the API.")
      : null;
  },
  wrong: {
    "a history without its thinking": { status: 400, change: without("reasoning_content") },
    "a history in which empty thinking is left out": {
      status: 400,
      change: (messages) => {
        for (const message of messages)
          if (message.reasoning_content === "") delete message.reasoning_content;
      },
    },
  },
};

/**
 * Splits messages into turns, each a user message and the messages after it. The first entry has the messages before any user
 * message.
 */
function turnsOf({ messages }: Request): Sent[][] {
  const turns: Sent[][] = [[]];
  for (const message of messages) {
    if (message.role === "user") turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

// Calls that are made at the same time share an id.
const GEMINI_CALLS = callsWith([
  "function-call-1758708579654",
  "function-call-1758708579654",
  "function-call-1758708580001",
]);
const signed = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
const [[romesWeather, romesTime], [oslosWeather]] = GEMINI_CALLS;

export const GEMINI_COMPATIBLE: Double = {
  name: "gemini",
  model: "gemini-3.8-flash",
  from: [
    "https://ai.google.dev/gemini-api/docs/thought-signatures",
    "https://github.com/openai/openai-python/issues/2758",
    "https://github.com/langroid/langroid/pull/969",
    "https://discuss.ai.google.dev/t/openai-api-compatibility-broken-due-to-thought-signature-on-gemini-3-pro-preview/109823",
    "https://github.com/huggingface/smolagents/issues/2683", // calls with the same id
  ],
  answers: [
    // Only the first of parallel calls is signed.
    { content: "", tool_calls: [{ ...romesWeather, ...signed("CpYBAdHtim9-rome") }, romesTime] },
    { content: "", tool_calls: [{ ...oslosWeather, ...signed("CrICAdHtim82-oslo") }] },
    { content: ANSWER, ...signed("CsoBAdHtim11-answer") },
    { content: NEXT_ANSWER, ...signed("CtwBAdHtim07-next") },
  ],
  // Calls come whole, one per chunk.
  chunks: ({ content, tool_calls = [], ...members }) => [
    ...tool_calls.map((call, index) => delta({ role: "assistant", tool_calls: [{ index, ...call }] })),
    ...(tool_calls.length > 0 ? [] : [delta({ role: "assistant", content, ...members })]),
    ending(tool_calls, { ofChunk: { usage: USAGE } }),
  ],
  refuse(request, given) {
    const own = assistants(request);
    const turnBeginsAt = request.messages.findLastIndex(({ role }) => role === "user");
    for (const [place, { tool_calls: [first] = [], index }] of own.entries()) {
      if (!first || index < turnBeginsAt) continue;
      const signature = signatureOf(first);
      if (signature === undefined)
        return googleError(
          `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${first.function.name}\`, position ${index + 1}.`,
        );
      if (signature !== signatureOf(given[place]?.tool_calls?.[0]))
        return googleError("Corrupted thought signature.");
    }
    return null;
  },
  wrong: {
    "calls without their signatures": {
      status: 400,
      isWithinTurn: true,
      change: (messages) => {
        for (const { tool_calls = [] } of messages) for (const call of tool_calls) delete call.extra_content;
      },
    },
    "a signature of another call": {
      status: 400,
      isWithinTurn: true,
      change: (messages) => {
        for (const { tool_calls: [first] = [] } of messages)
          if (first) Object.assign(first, signed("CpYBAdHtim9-rome"));
      },
    },
  },
};

const signatureOf = (call: object | undefined): string | undefined =>
  (call as { extra_content?: { google?: { thought_signature?: string } } } | undefined)?.extra_content?.google
    ?.thought_signature; // absent members read as undefined
/** The form of Google's errors: a list with one item. */
const googleError = (message: string): Answer => ({
  status: 400,
  body: [JSON.stringify([{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }])],
});

const ROUTED_CALLS = callsWith([
  "toolu_01SWBkC2GPGhoSfEqTZ6y91b",
  "toolu_01Hc5RrWv8xNq3LpZd7MtKyE",
  "toolu_01XgUb4JfYsTo6AaQm2PnVwD",
]);
const FORMAT = { format: "anthropic-claude-v1" };
const thought = (text: string, signature: string) => ({
  content: "",
  refusal: null,
  reasoning: text,
  reasoning_details: [
    { type: "reasoning.text", text, signature, ...FORMAT, index: 0 },
    { type: "reasoning.encrypted", data: `${signature}-sealed`, ...FORMAT, index: 1 },
  ],
});

export const OPENROUTER: Double = {
  name: "openrouter",
  model: "anthropic/claude-sonnet-4.5",
  from: [
    "https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks",
    "https://github.com/linanwx/nagobot/issues/21",
    "https://github.com/synthetic-sciences/openscience/pull/167",
  ],
  answers: [
    { ...thought("Rome first: two tools.", "EqQBCkgIARAB-1"), tool_calls: ROUTED_CALLS[0] },
    { ...thought("Now Oslo.", "EqQBCkgIARAB-2"), tool_calls: ROUTED_CALLS[1] },
    { ...thought("All is known.", "EqQBCkgIARAB-3"), content: ANSWER },
    { ...thought("Sun is warmer than snow.", "EqQBCkgIARAB-4"), content: NEXT_ANSWER },
  ],
  chunks({ reasoning, reasoning_details: details, refusal: _, ...spoken }) {
    const [{ signature, ...first }, sealed] = details as [{ signature: string; text: string }, object]; // `thought` makes them in this form
    const detail = (reasoning_details: object) =>
      delta({ role: "assistant", content: "", ...reasoning_details });
    return [
      ": OPENROUTER PROCESSING\n\n",
      ...halves(String(reasoning)).map((text) =>
        detail({ reasoning: text, reasoning_details: [{ ...first, text }] }),
      ),
      detail({ reasoning_details: [{ type: "reasoning.text", signature, ...FORMAT, index: 0 }] }),
      detail({ reasoning_details: [sealed] }),
      ...usualChunks(spoken).slice(1, -2),
      event({
        ...CHUNK,
        choices: [
          { index: 0, delta: { role: "assistant", content: "" }, finish_reason: reasonOf(spoken.tool_calls) },
        ],
        usage: USAGE,
      }),
    ];
  },
  refuse(request, given) {
    const changed = assistants(request).find(
      ({ tool_calls, reasoning_details }, place) =>
        tool_calls && !isDeepStrictEqual(reasoning_details, given[place]?.reasoning_details),
    );
    if (!changed) return null;
    const raw = `messages.${changed.index}.content.0: Invalid \`signature\` in \`thinking\` block`;
    const metadata = { raw, provider_name: "Anthropic" };
    return refusal(400, { error: { message: "Provider returned error", code: 400, metadata } });
  },
  wrong: {
    "a history without its details": { status: 400, change: without("reasoning_details") },
    "details in another order": {
      status: 400,
      change: (messages) => {
        for (const { reasoning_details: details } of messages) if (Array.isArray(details)) details.reverse();
      },
    },
    "ids of calls that no result has": {
      status: 400,
      change: (messages) => {
        withIds((id) => `${id}-2`)(messages.filter(({ role }) => role === "assistant"));
      },
    },
    "details that are a text": { status: 400, change: including("reasoning_details", "thought") },
  },
};
