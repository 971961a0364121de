import {
  type Answer,
  COST,
  chunk,
  completion,
  DONE,
  type Expected,
  event,
  REFUSED,
  stream,
  type UpstreamCase,
  USAGE,
  usageChunk,
} from "../upstream";

/* Servers that refuse a member of a request with their own message, and the members that reach other servers. */

const HELLO = { role: "assistant", content: "Hello" };
const whole = completion(HELLO);
const streamed = stream(chunk(HELLO), chunk({}, { finish: "stop" }), usageChunk(), DONE);
/** A stream without usage, because it was not requested. */
const unreported = stream(chunk(HELLO), chunk({}, { finish: "stop" }), DONE);

const answered: Expected = { text: "Hello", finish: "stop", cost: COST };
/** A pin sends its body as planned, without replacing members. */
const pinned: Expected = { ...REFUSED, cost: 0, sent: { has: ["max_tokens"] } };

const refusal = (status: number, body: object): Answer => ({ status, body });
const invalid = (message: string, more: object = {}) =>
  refusal(400, { error: { message, type: "invalid_request_error", param: null, code: null, ...more } });
/** Pydantic's error for unknown members. */
const extra = (...members: string[]) =>
  members.map((member) => ({
    type: "extra_forbidden",
    loc: ["body", member],
    msg: "Extra inputs are not permitted",
    input: 2_048,
  }));

const NEWER: Expected["sent"] = { has: ["max_completion_tokens"], lacks: ["max_tokens"] };
const OLDER: Expected["sent"] = { has: ["max_tokens"], lacks: ["max_completion_tokens"] };

/** A server that accepts only the newer member. */
const takesNewer = (name: string, from: string[], answer: Answer): UpstreamCase => ({
  name,
  from,
  dialect: "chat",
  refuses: [{ members: ["max_tokens"], answer }],
  whole,
  streamed,
  expect: { ...answered, sent: NEWER },
  pinned,
});

/** A server that accepts only the older member. */
const takesOlder = (name: string, from: string[], answer: Answer): UpstreamCase => ({
  name,
  from,
  dialect: "chat",
  refuses: [{ members: ["max_completion_tokens"], answer }],
  whole,
  streamed,
  expect: { ...answered, sent: OLDER },
});

/** A server that streams only without `stream_options`, and then reports no usage. */
const takesNoOptions = (name: string, from: string[], answer: Answer): UpstreamCase => ({
  name,
  from,
  dialect: "chat",
  refuses: [{ members: ["stream_options"], answer }],
  streamed: unreported,
  expect: { text: "Hello", finish: "stop", isEstimated: true, sent: { lacks: ["stream_options"] } },
});
/** On the operator's account the whole hold is charged if no usage is reported. */
const CHARGES_HOLD: Expected = { isEstimated: false, cost: null, chargesHold: true };

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const ROME = '{"city":"Rome"}';
const named = (strict?: boolean) => ({
  response_format: {
    type: "json_schema",
    json_schema: { name: "thing", schema: SCHEMA, ...(strict === undefined ? {} : { strict }) },
  },
});

const toFormat = (strict?: boolean): Expected["sent"] => ({
  like: {
    response_format: {
      type: "json_schema",
      json_schema: { name: "thing", schema: SCHEMA, ...(strict === undefined ? {} : { strict }) },
    },
  },
});

const ofSchema = (name: string, strict?: boolean): UpstreamCase => ({
  name,
  from: ["getzep/graphiti#1751", "tetherto/qvac#1768"],
  dialect: "chat",
  request: named(strict),
  whole: completion({ content: ROME }),
  streamed: stream(chunk({ content: ROME }), chunk({}, { finish: "stop", usage: USAGE }), DONE),
  expect: { text: ROME, finish: "stop", cost: COST, sent: toFormat(strict) },
});

const RESPONSE = {
  id: "resp_1",
  object: "response",
  model: "upstream-1",
  status: "completed",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: ROME }] }],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};

const ofResponse = (name: string, strict: boolean): UpstreamCase => ({
  name,
  from: ["https://platform.openai.com/docs/guides/structured-outputs", "getzep/graphiti#1751"],
  dialect: "responses",
  request: named(strict),
  whole: { body: RESPONSE },
  streamed: stream(
    event({ type: "response.output_text.delta", delta: ROME }, "response.output_text.delta"),
    event({ type: "response.completed", response: RESPONSE }, "response.completed"),
  ),
  expect: {
    text: ROME,
    finish: "stop",
    sent: { like: { text: { format: { type: "json_schema", name: "thing", strict, schema: SCHEMA } } } },
  },
});

const USE_NEWER =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";

export const REQUESTS: readonly UpstreamCase[] = [
  takesNewer(
    "limit-newer-openai",
    [
      "langgenius/dify#33285",
      "ITSpecialist111/ai_automation_suggester#38",
      "griptape-ai/ComfyUI-Griptape#312",
    ],
    invalid(USE_NEWER, { param: "max_tokens", code: "unsupported_parameter" }),
  ),
  takesNewer(
    "limit-newer-without-param",
    ["caozhiyuan/copilot-api#164"],
    refusal(400, { error: { message: USE_NEWER, code: "invalid_request_body" } }),
  ),
  takesNewer(
    "limit-newer-extra-input",
    ["agentscope-ai/QwenPaw#4605"],
    refusal(422, { detail: extra("max_tokens") }),
  ),
  takesOlder(
    "limit-older-azure",
    ["openai/openai-python#1724", "BerriAI/litellm#8638"],
    invalid("Unrecognized request argument supplied: max_completion_tokens"),
  ),
  takesOlder(
    "limit-older-mistral",
    ["editor-code-assistant/eca#231", "Gitlawb/openclaude#739"],
    refusal(422, { object: "error", message: { detail: extra("max_completion_tokens") } }),
  ),
  takesOlder(
    "limit-older-groq",
    ["tmc/langchaingo#1028"],
    invalid("property 'max_completion_tokens' is unsupported, did you mean 'max_tokens'?"),
  ),
  takesOlder(
    "limit-older-cohere",
    ["cognesy/instructor-php#49"],
    refusal(422, { message: "unknown field: parameter 'max_completion_tokens' is not a valid field" }),
  ),
  takesOlder(
    "limit-older-vllm",
    ["1Panel-dev/MaxKB#2912", "voideditor/void#128"],
    refusal(400, {
      object: "error",
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 800}]",
      type: "BadRequestError",
      param: null,
      code: 400,
    }),
  ),
  {
    name: "limit-too-large",
    from: ["stepfun-ai/Step-Audio-R1#3", "adolfousier/opencrabs#1059"],
    dialect: "chat",
    refuses: [
      {
        members: ["max_tokens"],
        answer: refusal(400, {
          object: "error",
          message:
            "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum is 1024.",
          type: "BadRequestError",
          code: 400,
        }),
      },
    ],
    whole,
    streamed,
    // The other member could be ignored, and the output would have no limit.
    expect: { ...REFUSED, sent: OLDER },
  },
  {
    ...takesNoOptions(
      "stream-options-azure",
      ["openai/openai-python#2296", "microsoft/semantic-kernel#10510"],
      invalid("Validation error at #/stream_options: Extra inputs are not permitted"),
    ),
    managed: CHARGES_HOLD,
  },
  {
    ...takesNoOptions(
      "stream-options-azure-models",
      ["CherryHQ/cherry-studio#9214"],
      refusal(400, {
        detail:
          "Extra parameters ['stream_options'] are not allowed when extra-parameters is not set or set to be 'error'. Set extra-parameters to 'pass-through' to pass to the model.",
      }),
    ),
    managed: CHARGES_HOLD,
  },
  {
    name: "stream-options-mistral",
    from: ["langgenius/dify-plugin-sdks#50"],
    dialect: "chat",
    refuses: [{ members: ["stream_options"], answer: refusal(422, { detail: extra("stream_options") }) }],
    // The server reports its usage without being asked.
    streamed,
    expect: { ...answered, sent: { lacks: ["stream_options"] } },
  },
  {
    name: "two-members-at-once",
    from: ["Gitlawb/openclaude#739"],
    dialect: "chat",
    refuses: [
      {
        members: ["max_tokens", "stream_options"],
        answer: refusal(422, { detail: extra("max_tokens", "stream_options") }),
      },
    ],
    streamed,
    expect: { ...answered, sent: { ...NEWER, lacks: ["max_tokens", "stream_options"] } },
  },
  {
    name: "two-members-one-by-one",
    from: ["langgenius/dify#33285", "openai/openai-python#2296"],
    dialect: "chat",
    refuses: [
      { members: ["max_tokens"], answer: invalid(USE_NEWER) },
      {
        members: ["stream_options"],
        answer: invalid("Validation error at #/stream_options: Extra inputs are not permitted"),
      },
    ],
    streamed,
    expect: { ...answered, sent: { ...NEWER, lacks: ["max_tokens", "stream_options"] } },
  },
  ofSchema("schema-named-and-strict", true),
  ofSchema("schema-named-and-loose", false),
  ofSchema("schema-named"),
  ofResponse("schema-of-a-response-strict", true),
  ofResponse("schema-of-a-response-loose", false),
];
