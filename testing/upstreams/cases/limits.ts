import {
  both,
  COST,
  chunk,
  completion,
  DONE,
  error,
  event,
  FAILED,
  FULL,
  REFUSED,
  said,
  stream,
  type UpstreamCase,
  usageChunk,
} from "../upstream";

/* Limits, lack of capacity and lack of credit: how long an error asks to wait, and which errors no wait can help. */

const HELLO = { content: "Hello" };
const ANSWER = {
  whole: completion(HELLO),
  streamed: stream(chunk(HELLO, { finish: "stop" }), usageChunk(), DONE),
};
const answered = { text: "Hello", finish: "stop", cost: COST } as const;

const DAY_SECONDS = 86_400;
const A_DAY = { "retry-after": String(DAY_SECONDS) };
const inADay = () => new Date(Date.now() + DAY_SECONDS * 1_000);
const FREE_LIMIT = { message: "Rate limit exceeded: free-models-per-min", code: 429 };

/** Limits and lack of capacity. */
const CAPACITY: readonly UpstreamCase[] = [
  {
    name: "rate-limit-with-200",
    from: ["immersive-translate/immersive-translate#2725", "BerriAI/litellm#21755", "mmeyerlein/meclaw#75"],
    dialect: "chat",
    ...error(200, { error: FREE_LIMIT }, A_DAY),
    expect: { ...FULL, ...said(null, FREE_LIMIT.message), retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "rate-limit-with-200-passes",
    from: ["nodetool-ai/nodetool#5755", "maximhq/bifrost#5963"],
    dialect: "chat",
    first: { body: { error: FREE_LIMIT } },
    ...ANSWER,
    expect: answered,
  },
  {
    name: "rate-limit-as-first-event",
    from: ["diegosouzapw/OmniRoute#8210"],
    dialect: "chat",
    streamed: {
      ...stream(event({ choices: [], error: FREE_LIMIT })),
      headers: { "content-type": "text/event-stream", ...A_DAY },
    },
    expect: { ...FULL, ...said(null, FREE_LIMIT.message), retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "rate-limit-passes",
    from: ["groq/groq-python#101"],
    dialect: "chat",
    first: { status: 429, headers: { "retry-after-ms": "1" }, body: { error: FREE_LIMIT } },
    ...ANSWER,
    expect: answered,
  },
  {
    name: "retry-after-a-day",
    from: ["1jehuang/jcode#1183"],
    dialect: "chat",
    ...error(429, { error: { message: "Usage limit reached.", type: "rate_limit_error" } }, A_DAY),
    expect: { ...FULL, ...said("rate_limit_error", "Usage limit reached."), retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "retry-after-a-date",
    from: ["librefang/librefang#4257", "vellum-ai/vellum-assistant#3404"],
    dialect: "chat",
    ...error(429, {}, { "retry-after": inADay().toUTCString() }),
    expect: FULL,
  },
  {
    name: "retry-after-a-duration",
    from: ["duolahypercho/codex-router#573"],
    dialect: "chat",
    ...error(429, {}, { "retry-after": "24h0m0s" }),
    expect: { ...FULL, retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "reset-of-requests",
    from: ["vectorize-io/hindsight#3508", "Helicone/helicone#570"],
    dialect: "chat",
    ...error(
      429,
      { error: { message: "Requests per day.", code: "rate_limit_exceeded" } },
      {
        "x-ratelimit-reset-requests": "24h0m0s",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-tokens": "2ms",
        "x-ratelimit-remaining-tokens": "9000",
      },
    ),
    expect: { ...FULL, ...said("rate_limit_exceeded", "Requests per day."), retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "reset-inside-the-error",
    from: ["immersive-translate/immersive-translate#2725"],
    dialect: "chat",
    ...error(429, {
      error: { ...FREE_LIMIT, metadata: { headers: { "X-RateLimit-Reset": String(inADay().getTime()) } } },
    }),
    expect: FULL,
  },
  {
    name: "retry-info-of-google",
    from: ["googleapis/python-genai#2114", "dcdpr/jp#1061", "RooCodeInc/Roo-Code#2118"],
    dialect: "chat",
    ...both({
      status: 429,
      body: [
        JSON.stringify([
          {
            error: {
              code: 429,
              message: "You exceeded your quota.",
              status: "RESOURCE_EXHAUSTED",
              details: [
                { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "86400.000000000s" },
              ],
            },
          },
        ]),
      ],
    }),
    expect: { ...FULL, retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "wait-in-a-sentence",
    from: ["Aider-AI/aider#3265", "danielmiessler/Fabric#364"],
    dialect: "chat",
    ...error(429, {
      error: { message: "Limit 7000. Please try again in 24h0m0s. Visit us.", type: "tokens" },
    }),
    expect: { ...FULL, retryAfterSeconds: DAY_SECONDS },
  },
  {
    name: "overloaded-529",
    from: ["vava-nessa/free-coding-models#148", "agentscope-ai/QwenPaw#1891"],
    dialect: "chat",
    ...error(529, { error: { type: "overloaded_error", message: "Overloaded" } }, A_DAY),
    expect: { ...FULL, ...said("overloaded_error", "Overloaded") },
  },
  {
    name: "model-is-loading",
    from: ["mostlygeek/llama-swap#146"],
    dialect: "chat",
    first: {
      status: 503,
      body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
    },
    ...ANSWER,
    expect: answered,
  },
];

/** Lack of credit, which no wait can help. */
const CREDIT: readonly UpstreamCase[] = [
  {
    name: "quota-of-moonshot",
    from: ["MoonshotAI/kimi-code#1857"],
    dialect: "chat",
    ...error(429, { error: { message: "Please recharge.", type: "exceeded_current_quota_error" } }),
    expect: { ...REFUSED, ...said("exceeded_current_quota_error", "Please recharge.") },
  },
  {
    name: "balance-as-429",
    from: ["modelscope/modelscope#1691"],
    dialect: "chat",
    ...error(429, {
      error: { http_code: "429", message: "insufficient balance (1008)", type: "insufficient_balance_error" },
    }),
    expect: { ...REFUSED, ...said("insufficient_balance_error", "insufficient balance (1008)") },
  },
  {
    name: "balance-as-500",
    from: ["MiniMax-AI/MiniMax-M2#62", "NousResearch/hermes-agent#16680"],
    dialect: "chat",
    ...error(500, {
      type: "error",
      error: { type: "api_error", message: "insufficient balance (1008)" },
    }),
    expect: { ...FAILED, ...said("api_error", "insufficient balance (1008)") },
  },
  {
    name: "balance-as-403",
    from: ["Wei-Shaw/sub2api#890"],
    dialect: "chat",
    ...error(403, { code: "INSUFFICIENT_BALANCE", message: "Insufficient account balance" }),
    expect: { ...REFUSED, ...said("INSUFFICIENT_BALANCE", "Insufficient account balance") },
  },
  {
    name: "arrearage",
    from: ["alibaba/spring-ai-alibaba#1146", "HKUDS/nanobot#4048"],
    dialect: "chat",
    ...error(400, { code: "Arrearage", message: "Access denied.", request_id: "1" }),
    expect: { ...REFUSED, ...said("Arrearage", "Access denied.") },
  },
  {
    name: "arrearage-with-200",
    from: ["alibaba/spring-ai-alibaba#1146"],
    dialect: "chat",
    ...error(200, { code: "Arrearage", message: "Access denied.", request_id: "1" }),
    expect: { ...REFUSED, ...said("Arrearage", "Access denied.") },
  },
  {
    name: "credits-402",
    from: ["QwenLM/qwen-code#73", "can1357/oh-my-pi#9569"],
    dialect: "chat",
    ...error(402, { error: { message: "This request requires more credits.", code: 402 } }),
    expect: { ...REFUSED, ...said(null, "This request requires more credits.") },
  },
  {
    name: "error-inside-error",
    from: ["tailcallhq/forgecode#571"],
    dialect: "chat",
    ...error(200, { error: { error: { message: "More credits are required.", code: 402 }, code: 402 } }),
    expect: { ...REFUSED, ...said(null, "More credits are required.") },
  },
  {
    name: "base-resp-without-balance",
    from: ["MiniMax-AI/MiniMax-M2#62", "https://platform.minimax.io/docs/api-reference/errorcode"],
    dialect: "chat",
    ...error(200, { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } }),
    expect: { ...REFUSED, ...said("1008", "insufficient balance") },
  },
];

export const LIMITS: readonly UpstreamCase[] = [...CAPACITY, ...CREDIT];
