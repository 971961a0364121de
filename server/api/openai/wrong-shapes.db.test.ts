import { afterAll, beforeAll, expect, test } from "vitest";
import { OpenAIError } from "@/server/contract/openai";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { whiteSquare } from "@/testing/forms";
import { workFor } from "@/testing/work";

/* Whatever value a field has, the response is the requested one or an error that OpenAI's clients can read. */

let tenant: Tenant;
let server: WebServer;
let stopWork: () => Promise<void>;
beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  stopWork = workFor(tenant.projectId);
});
afterAll(async () => {
  await stopWork();
  await server.stop(1_000);
});

/** Values that are put in place of each field's own. */
const VALUES: unknown[] = [
  null,
  true,
  -1,
  Number.MAX_SAFE_INTEGER,
  "",
  "\u0001\u2028\ud83d\ude00",
  "9".repeat(600_000),
  [null],
  { type: "function" },
  { constructor: 1, toString: null },
  { ["k".repeat(100_000)]: 1 },
  inLists(50),
  Array.from({ length: 3_000 }, () => ({})),
];

function inLists(levels: number): unknown {
  return levels === 0 ? 1 : [inLists(levels - 1)];
}

const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
const fn = {
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: {} },
  strict: false,
};
const CHAT = {
  model: "text.general.fast.v1@sandbox/sandbox-1",
  messages: [
    { role: "system", content: "Be short.", cache_control: { type: "ephemeral", ttl: "1h" } },
    { role: "user", content: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }] },
    { role: "assistant", content: null, refusal: null, annotations: [], id: "x", tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "Seen." },
  ],
  tools: [{ type: "function", function: fn, cache_control: null }],
  tool_choice: "auto",
  parallel_tool_calls: true,
  stop: ["END"],
  seed: 1,
  top_p: 0.5,
  n: 1,
  temperature: 1,
  frequency_penalty: 0,
  presence_penalty: 0,
  max_tokens: 20,
  max_completion_tokens: 20,
  reasoning_effort: "low",
  response_format: { type: "text" },
  stream: false,
  stream_options: null,
  metadata: { a: "b" },
  user: "u",
  store: false,
  safety_identifier: "s",
  service_tier: "auto",
  logit_bias: null,
  top_k: null,
  chat_template_kwargs: null,
  modalities: ["text"],
  logprobs: false,
  prompt_cache_key: null,
  functions: null,
  audio: null,
  prediction: null,
  verbosity: null,
};
const RESPONSES = {
  model: "text.general.fast.v1@sandbox/sandbox-1",
  instructions: "Be short.",
  input: [
    { role: "user", content: [{ type: "input_text", text: "Look." }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "look",
      arguments: "{}",
      status: "completed",
    },
    { type: "function_call_output", call_id: "call_1", output: "Seen." },
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      status: "completed",
      content: [{ type: "output_text", text: "A", annotations: [], logprobs: [] }],
    },
    { role: "user", content: "And?" },
  ],
  tools: [{ type: "function", ...fn }],
  tool_choice: "auto",
  parallel_tool_calls: true,
  top_p: 0.5,
  temperature: 1,
  max_output_tokens: 20,
  reasoning: { effort: "low", summary: null },
  text: { format: { type: "text" }, verbosity: null },
  stream: false,
  metadata: { a: "b" },
  user: "u",
  store: false,
  previous_response_id: null,
  include: [],
  truncation: "disabled",
  background: false,
  conversation: null,
  max_tool_calls: null,
  prompt: null,
  top_logprobs: null,
  service_tier: "auto",
};
const EMBEDDINGS = {
  model: "text.embed.v1",
  input: ["a", "b"],
  dimensions: 8,
  encoding_format: "float",
  user: "u",
};
const IMAGES = {
  model: "image.generate.v1",
  prompt: "A",
  n: 1,
  size: "1024x1024",
  quality: "low",
  background: "opaque",
  output_format: "png",
  output_compression: 100,
  response_format: "b64_json",
  stream: false,
  partial_images: 0,
  user: "u",
  moderation: "auto",
  style: null,
};
const SPEECH = {
  model: "audio.voice.generate.v1@sandbox/sandbox-1",
  input: "A",
  voice: "ada",
  response_format: "mp3",
  speed: 1,
  instructions: "",
  stream_format: "audio",
};

/** Every place in a value. */
function* placesIn(value: unknown, path: string[] = []): Generator<string[]> {
  if (path.length > 0) yield path;
  if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* placesIn(inner, [...path, key]);
}

/** A copy of the value with another value at this path. */
function withAt(value: unknown, [first, ...rest]: string[], put: unknown): unknown {
  if (first === undefined) return put;
  const entries = Object.entries(value as object).map(([key, inner]) => [
    key,
    key === first ? withAt(inner, rest, put) : inner,
  ]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

const headers = () => ({ authorization: `Bearer ${tenant.key}` });

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { ...headers(), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The defect of an answer; null if it has none. */
async function flawOf(answer: Response): Promise<string | null> {
  const bytes = await answer.text();
  if (answer.status === 200) return null;
  if (answer.status === 500) return `500 ${bytes.slice(0, 200)}`;
  if (bytes.length > 10_000) return `${answer.status} with ${bytes.length} characters`;
  const read = OpenAIError.safeParse(JSON.parse(bytes));
  return read.success ? null : `not of the shape: ${bytes.slice(0, 200)}`;
}

test.each([
  ["/v1/chat/completions", CHAT],
  ["/v1/responses", RESPONSES],
  ["/v1/embeddings", EMBEDDINGS],
  ["/v1/images/generations", IMAGES],
  ["/v1/audio/speech", SPEECH],
])(
  "no value of a field of %s causes a 5xx, and each error is short and in OpenAI's shape",
  async (path, whole) => {
    expect((await post(path, whole)).status).toBe(200);
    // Each place gets a third of the values (an eighteenth in the small campaign), and its neighbours the others.
    const parts = campaign.size({ small: 18, full: 3 });
    const cases = [...placesIn(whole)].flatMap((place, number) =>
      VALUES.filter((_, each) => (each + number) % parts === 0).map((value) => ({ place, value })),
    );
    const flaws: string[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let next = cases.pop(); next; next = cases.pop()) {
          const { place, value } = next;
          const flaw = await flawOf(await post(path, withAt(whole, place, value)));
          if (flaw) flaws.push(`${place.join(".")} = ${JSON.stringify(value).slice(0, 40)}: ${flaw}`);
        }
      }),
    );
    expect(flaws).toEqual([]);
  },
  120_000,
);

test("no part of a form causes a 5xx of /v1/images/edits", async () => {
  const picture = new Blob([new Uint8Array(whiteSquare())]);
  const cases: [name: string, value: string | Blob, filename?: string][] = [
    ["n", "1e1000"],
    ["n", "two"],
    ["size", "0x0"],
    ["prompt", "a\u0000b"],
    ["prompt", "x".repeat(100_000)],
    ["constructor", "1"],
    ["__proto__", "1"],
    ["k".repeat(100_000), "1"],
    ["image", "no file"],
    ["image", new Blob([]), "empty.png"],
    ["image", new Blob(["no picture"]), "a\u0000b\ud800.png"],
    ["image", picture, `${"n".repeat(100_000)}.png`],
    ["mask", new Blob(["no picture"], { type: "image/png" }), "mask.png"],
    ["model", "image.edit.v1@sandbox/sandbox-1@"],
    ["model", "\u0000"],
  ];
  const flaws: string[] = [];
  for (const [name, value, filename] of cases) {
    const form = new FormData();
    if (name !== "prompt") form.append("prompt", "A kite");
    if (name !== "image") form.append("image", picture, "a.png");
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, filename);
    const answer = await fetch(`${server.url}/v1/images/edits`, {
      method: "POST",
      headers: headers(),
      body: form,
    });
    const flaw = answer.status === 200 ? "was taken" : await flawOf(answer);
    if (flaw) flaws.push(`${name.slice(0, 40)} = ${String(value).slice(0, 40)}: ${flaw}`);
  }
  expect(flaws).toEqual([]);
}, 60_000);
