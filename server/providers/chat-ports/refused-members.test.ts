import { expect, test } from "vitest";
import { refusedMembers } from "./refused-members";

const extra = (member: unknown[], more: object = {}) => ({
  type: "extra_forbidden",
  loc: ["body", ...member],
  msg: "Extra inputs are not permitted",
  ...more,
});
const says = (message: string, more: object = {}) => ({ error: { message, ...more } });

test.each<[string, unknown, string[]]>([
  [
    "OpenAI's o-series",
    says(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    ["max_tokens"],
  ],
  [
    "a code and a param alone",
    says("Invalid.", { code: "unsupported_parameter", param: "max_tokens" }),
    ["max_tokens"],
  ],
  [
    "a param inside a member",
    says("Invalid.", { code: "unknown_parameter", param: "stream_options.include_usage" }),
    ["stream_options"],
  ],
  [
    "Azure's argument",
    says("Unrecognized request argument supplied: max_completion_tokens"),
    ["max_completion_tokens"],
  ],
  [
    "Azure's list of arguments",
    says("Unrecognized request arguments supplied: topP, stream_options"),
    ["stream_options"],
  ],
  [
    "Azure's place of an error",
    says("Validation error at #/stream_options: Extra inputs are not permitted"),
    ["stream_options"],
  ],
  [
    "Azure's models",
    { detail: "Extra parameters ['stream_options'] are not allowed when extra-parameters is not set" },
    ["stream_options"],
  ],
  ["Mistral", { detail: [extra(["store"]), extra(["max_completion_tokens"])] }, ["max_completion_tokens"]],
  [
    "Mistral behind a message",
    { message: { detail: [extra(["max_completion_tokens"])] } },
    ["max_completion_tokens"],
  ],
  [
    "Mistral's error as a text",
    { message: JSON.stringify({ detail: [extra(["stream_options"])] }) },
    ["stream_options"],
  ],
  [
    "vLLM",
    {
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
    },
    ["max_completion_tokens"],
  ],
  [
    "Groq",
    says("property 'max_completion_tokens' is unsupported, did you mean 'max_tokens'?"),
    ["max_completion_tokens"],
  ],
  [
    "Cohere",
    { message: "unknown field: parameter 'max_completion_tokens' is not a valid field" },
    ["max_completion_tokens"],
  ],
  [
    "Gemini's compatible endpoint",
    [says('Invalid JSON payload received. Unknown name "stream_options": Cannot find field.')],
    ["stream_options"],
  ],
  ["a server in Go", { error: 'json: unknown field "stream_options"' }, ["stream_options"]],
  [
    "a server in Rust, as a text",
    "Failed to deserialize the JSON body: unknown field `max_completion_tokens`, expected one of `model`, `max_tokens`",
    ["max_completion_tokens"],
  ],
  [
    "a sentence about the model",
    says("This model does not support max_tokens, please use max_completion_tokens."),
    ["max_tokens"],
  ],
  ["a deprecation", says("max_tokens is deprecated, use max_completion_tokens"), ["max_tokens"]],
  ["advice alone", says("Please use max_completion_tokens instead of max_tokens"), ["max_tokens"]],
  [
    "two members",
    { detail: [extra(["max_tokens"]), extra(["stream_options"])] },
    ["max_tokens", "stream_options"],
  ],
])("the unknown members are read from %s, at the statuses 400 and 422 only", (_server, body, members) => {
  expect(refusedMembers({ status: 400, body })).toEqual(members);
  expect(refusedMembers({ status: 422, body })).toEqual(members);
  for (const status of [200, 401, 404, 413, 429, 500]) expect(refusedMembers({ status, body })).toEqual([]);
});

test.each<[string, unknown]>([
  ["a limit that is too large", says("'max_tokens' or 'max_completion_tokens' is too large: 32000.")],
  ["a limit that is not allowed to be so large", says("max_tokens is not allowed to exceed 4096")],
  ["a limit that is too small", says("max_tokens must be at least 1, got -186.")],
  ["a limit of a model", says("payload validation: max_completion_tokens is limited to 16384 for qwen")],
  [
    "a value",
    says("The value of max_tokens is not supported.", { code: "unsupported_value", param: "max_tokens" }),
  ],
  ["a value in quotes", says("The model does not support 'max_tokens' above 4096")],
  ["a value that exceeds a limit", says("This model does not support max_tokens exceeding 4096.")],
  ["a value higher than a limit", says("The model does not support `max_tokens` higher than 4096")],
  ["a value beyond a limit", says("max_tokens is not supported beyond 8192 tokens")],
  ["a value by its code", says("Invalid.", { code: "invalid_value", param: "max_tokens" })],
  [
    "a value in a field",
    {
      detail: [{ type: "less_than_equal", loc: ["body", "max_tokens"], msg: "Input should be at most 4096" }],
    },
  ],
  ["another member", says("Unsupported parameter: 'top_k' is not supported. max_tokens was 5.")],
  ["a member that is expected", says("unknown field `foo`, expected one of `max_tokens`, `stream_options`")],
  ["a member of a message", { detail: [extra(["messages", 0, "max_tokens"])] }],
  ["words of the caller", { detail: [extra(["top_k"], { input: "Unsupported parameter: 'max_tokens'" })] }],
  ["nothing", undefined],
  ["no object", 7],
  ["a page", "<html><body>Bad request</body></html>"],
  ["a long text", `Unsupported parameter: ${"a, ".repeat(30_000)}`],
  ["a thousand texts", { errors: Array(1_000).fill(`unknown field ${"(".repeat(4_000)}`) }],
  ["many quotes", `does not support ${"'[".repeat(30_000)}`],
])("a refusal of %s names no member", (_what, body) => {
  expect(refusedMembers({ status: 400, body })).toEqual([]);
});
