import {
  both,
  COST,
  chunk,
  completion,
  DONE,
  error,
  event,
  FAILED,
  page,
  REFUSED,
  said,
  stream,
  type UpstreamCase,
  usageChunk,
} from "../upstream";

/* Errors: their status, place and form, and whether the request is retried. */

const HELLO = { content: "Hello" };
const answered = { text: "Hello", finish: "stop", cost: COST } as const;

/** Refusals in the forms of servers and of proxies in front of them. */
const REFUSALS: readonly UpstreamCase[] = [
  {
    name: "detail-is-a-list",
    from: ["open-webui/open-webui#14613", "abetlen/llama-cpp-python#187"],
    dialect: "chat",
    ...error(422, {
      detail: [{ loc: ["body", "messages"], msg: "field required", type: "value_error.missing" }],
    }),
    expect: { ...REFUSED, ...said("value_error.missing", "field required") },
  },
  {
    name: "detail-is-a-text",
    from: ["lm-sys/FastChat#1889"],
    dialect: "chat",
    ...error(400, { detail: "Only one model at a time." }),
    expect: { ...REFUSED, ...said(null, "Only one model at a time.") },
  },
  {
    name: "too-large-as-a-page",
    from: ["open-webui/open-webui#3273", "langgenius/dify#14543"],
    dialect: "chat",
    ...page(413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
    expect: { ...REFUSED, ...said(null, null) },
  },
  {
    name: "too-large-for-the-limit",
    from: ["cottongeeks/podscript#20"],
    dialect: "chat",
    ...error(413, { error: { message: "Limit 6000.", type: "tokens", code: "rate_limit_exceeded" } }),
    expect: { ...REFUSED, ...said("rate_limit_exceeded", "Limit 6000.") },
  },
  {
    name: "content-filter-of-azure",
    from: ["compl-ai/compl-ai#20", "openai/openai-python#331"],
    dialect: "chat",
    ...error(400, {
      error: {
        message: "The response was filtered.",
        type: null,
        param: "prompt",
        code: "content_filter",
        status: 400,
        innererror: {
          code: "ResponsibleAIPolicyViolation",
          content_filter_result: { violence: { filtered: true, severity: "medium" } },
        },
      },
    }),
    expect: { ...REFUSED, ...said("content_filter", "The response was filtered.") },
  },
  {
    name: "content-filter-as-first-event",
    from: ["Oaklight/argo-proxy#91"],
    dialect: "chat",
    streamed: stream(
      event({ error: { message: "The response was filtered.", code: "content_filter" } }),
      DONE,
    ),
    expect: { ...REFUSED, ...said("content_filter", "The response was filtered.") },
  },
  {
    name: "code-is-a-text-of-a-status",
    from: ["BerriAI/litellm#16231"],
    dialect: "chat",
    ...error(200, { error: { message: "Modify your prompt.", type: null, param: null, code: "400" } }),
    expect: { ...REFUSED, ...said(null, "Modify your prompt.") },
  },
  {
    name: "prompt-too-long-as-first-event",
    from: ["dcdpr/jp#978", "lemonade-sdk/lemonade#2975"],
    dialect: "chat",
    streamed: stream(event({ choices: [], error: { code: 400, message: "prompt is too long" } })),
    expect: { ...REFUSED, ...said(null, "prompt is too long") },
  },
  {
    name: "no-such-model-of-vllm",
    from: ["https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html"],
    dialect: "chat",
    ...error(404, {
      object: "error",
      message: "No such model.",
      type: "NotFoundError",
      param: null,
      code: 404,
    }),
    expect: { ...REFUSED, ...said("NotFoundError", "No such model.") },
  },
  {
    name: "redirect",
    from: ["langchain-ai/langserve#304", "cheshire-cat-ai/core#191", "CNSeniorious000/oai2ollama#11"],
    dialect: "chat",
    ...both({ status: 307, headers: { location: "/v1/chat/completions/" }, body: [""] }),
    expect: REFUSED,
  },
];

/** Failures, with and without delivered text, and members that look like a failure. */
const FAILURES: readonly UpstreamCase[] = [
  {
    name: "page-of-a-gateway",
    from: ["Mintplex-Labs/anything-llm#3223", "Significant-Gravitas/AutoGPT#944"],
    dialect: "chat",
    ...page(502, "<html><head><title>502 Bad Gateway</title></head></html>"),
    expect: { ...FAILED, ...said(null, null) },
  },
  {
    name: "no-body-520",
    from: ["earendil-works/pi#9627"],
    dialect: "chat",
    ...both({ status: 520, body: [""] }),
    expect: FAILED,
  },
  {
    name: "code-is-no-status",
    from: ["mindverse/Second-Me#20"],
    dialect: "chat",
    ...error(200, { error: { code: 1, message: "LLama server is not running", data: null } }),
    expect: { ...FAILED, ...said(null, "LLama server is not running") },
  },
  {
    name: "rate-limit-in-mid-stream",
    from: ["damianvtran/local-operator#223", "vercel/ai#2720"],
    dialect: "chat",
    streamed: stream(chunk(HELLO), event({ choices: [], error: { code: 429, message: "Full." } }), DONE),
    expect: { fails: "PROVIDER_ERROR", text: "Hello", isEstimated: true, ...said(null, "Full.") },
  },
  {
    name: "error-after-usage",
    from: ["mozilla-ai/any-llm#1151", "vercel/ai#13480"],
    dialect: "chat",
    streamed: stream(
      chunk(HELLO),
      usageChunk(),
      event({ error: { message: "The worker stopped.", type: "server_error" } }),
    ),
    expect: {
      fails: "PROVIDER_ERROR",
      text: "Hello",
      cost: COST,
      ...said("server_error", "The worker stopped."),
    },
  },
  {
    name: "empty-error-of-a-good-answer",
    from: ["BerriAI/litellm#18493"],
    dialect: "chat",
    whole: completion(HELLO, { error: { message: "", type: "", param: "", code: null } }),
    streamed: stream(
      chunk(HELLO, { finish: "stop", error: {} }),
      event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 }, error: null }),
      DONE,
    ),
    expect: answered,
  },
  {
    name: "base-resp-of-a-good-answer",
    from: ["https://platform.minimax.io/docs/api-reference/text-openai-api"],
    dialect: "chat",
    whole: completion(HELLO, { base_resp: { status_code: 0, status_msg: "" } }),
    streamed: stream(
      chunk(HELLO, { finish: "stop", base_resp: { status_code: 0, status_msg: "" } }),
      usageChunk(),
      DONE,
    ),
    expect: answered,
  },
];

export const ERRORS: readonly UpstreamCase[] = [...REFUSALS, ...FAILURES];
