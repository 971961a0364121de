import { expect } from "vitest";
import { pool } from "@/server/platform/db";
import { finish, type Tenant } from "@/testing/api";
import { framesOf } from "@/testing/streams";
import type { Dialect, Expected, UpstreamCase } from "./upstream";

/* The ways in which a case is requested: each submits one request and reads the outcome. */

/** The outcome of a request, from its response and its rows. */
export type Seen = {
  executionId: string;
  /** The status of a synchronous response; null for other forms. */
  status: number | null;
  /** The text that the caller read; null if the form does not show it. */
  text: string | null;
  /** The text of a refusal, if the form has a member for it. */
  refusal?: string | null;
  calls: Expected["calls"] | null;
  /** The opaque members of the message, if the form shows them. */
  opaque?: Record<string, unknown>;
  finish: string | null;
  /** The error code that the caller read. */
  code: string | null;
  said: { code: string | null; message: string | null } | null;
};

export type Form = {
  name: string;
  isStream: boolean;
  /** The product's own envelope, in which an answer cut off at its limit is a failure. */
  isEnvelope?: true;
  /** The form returns JSON output as an object, not as text. */
  isObject?: true;
  run(tenant: Tenant, played: UpstreamCase): Promise<Seen>;
};

const PROVIDERS: Record<Dialect, { provider: string; model: string | null; pinned: string }> = {
  chat: { provider: "openai-compatible", model: null, pinned: "chat-completions" },
  responses: { provider: "openai", model: "gpt-5.6-luna", pinned: "responses" },
  messages: { provider: "anthropic", model: "claude-haiku-4-5", pinned: "messages" },
  gemini: { provider: "google", model: "gemini-3.8-flash", pinned: "generate-content" },
};

/** The provider, model and pinned interface that play a case. */
export function routeOf({ dialect, name }: UpstreamCase): {
  provider: string;
  model: string;
  pinned: string;
} {
  const { model, ...route } = PROVIDERS[dialect];
  return { ...route, model: model ?? name };
}

let asked = 0;
/** Each prompt is unique, because a repeat of a request that may have run is answered with the first one's end. */
const promptOf = ({ name }: UpstreamCase) => `case ${name} ${++asked}`;
const messagesOf = (played: UpstreamCase) => [{ role: "user" as const, content: promptOf(played) }];

/** The request of a case for OpenAI's endpoints, without its messages. */
const atDoor = (played: UpstreamCase) => {
  const { provider, model } = routeOf(played);
  return { model: `${provider}/${model}`, ...played.request };
};

type Format = { type: string; json_schema?: { name: string; strict?: boolean; schema: object } };
/** The request of a case in the product's own envelope. */
function envelopeOf(
  played: UpstreamCase,
  { isStream = false } = {},
): { path: string; body: Record<string, unknown> } {
  const { provider, model } = routeOf(played);
  const format = played.request?.response_format as Format | undefined; // the cases use this form
  const tools = played.request?.tools as { function: object }[] | undefined; // the cases use this form
  const { name, strict, schema } = format?.json_schema ?? {};
  return {
    // Object outputs are not streamed.
    path: `/v1/capabilities/${format && !isStream ? "text.structured.generation.v1" : "text.general.fast.v1"}`,
    body: {
      input: {
        messages: messagesOf(played),
        ...(schema ? { responseSchema: schema } : format ? { responseFormat: format.type } : {}),
      },
      ...(schema ? { responseSchemaName: name } : {}),
      ...(strict === undefined ? {} : { responseSchemaStrict: strict }),
      ...(tools ? { toolSchemas: tools.map(({ function: tool }) => ({ type: "function", ...tool })) } : {}),
      execution: { executionConstraints: { providerPin: provider, preferredModel: model } },
    },
  };
}

const NOTHING = { text: null, calls: null, finish: null, code: null, said: null };
type Output = {
  content?: string;
  refusal?: string;
  toolCalls?: Seen["calls"];
  opaque?: Record<string, unknown>;
} | null;

const readOutput = (output: Output): Pick<Seen, "text" | "calls" | "opaque"> => ({
  text:
    typeof output?.content === "string" ? output.content : output === null ? null : JSON.stringify(output),
  calls: output?.toolCalls ?? [],
  opaque: output?.opaque ?? {},
});

/**
 * The id of the project's newest execution, or empty if there is none. Tests of a file run one at a time, so it is the caller's
 * own.
 */
export async function newest({ projectId }: Tenant): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM execution WHERE project_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
    [projectId],
  );
  return rows[0]?.id ?? "";
}

export const saidIn = (details: { provider?: Seen["said"] } | null | undefined) =>
  details?.provider ? { code: details.provider.code, message: details.provider.message ?? null } : null;

async function invoke(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { path, body } = envelopeOf(played);
  const { status, json } = await tenant.post(`${path}/invoke`, body);
  if (status !== 200)
    return {
      ...NOTHING,
      executionId: json.details?.executionId,
      status,
      code: json.code,
      said: saidIn(json.details),
    };
  return { ...NOTHING, executionId: json.executionId, status, ...readOutput(json.typedOutput) };
}

async function followed(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { path, body } = envelopeOf(played, { isStream: true });
  const { json, text } = await tenant.post(`${path}/invoke`, { ...body, executionMode: "Stream" });
  expect(json.executionId, text).toBeDefined();
  const read = await tenant.get(`/v1/executions/${json.executionId}/events`);
  const frames = framesOf(read.text);
  const { data } = frames.at(-1)!;
  const error = data.error ?? null;
  const written = frames.filter(({ data }) => typeof data.text === "string").map((frame) => frame.data.text);
  return {
    ...NOTHING,
    executionId: json.executionId,
    status: null,
    ...(error ? {} : readOutput(data.typedOutput)),
    ...(error ? { text: written.join("") } : {}),
    code: error?.code ?? null,
    said: saidIn(error?.details),
  };
}

async function job(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { path, body } = envelopeOf(played);
  const { json, text } = await tenant.post(`${path}/jobs`, body);
  expect(json.jobId, text).toBeDefined();
  const { error, typedOutput } = await finish(json.jobId);
  return {
    ...NOTHING,
    executionId: json.jobId,
    status: null,
    ...(error ? {} : readOutput(typedOutput as Output)), // the output of a text capability
    code: error?.code ?? null,
    said: saidIn(error?.details as { provider?: Seen["said"] } | null), // the details of a failure
  };
}

async function chat(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { status, json } = await tenant.post("/v1/chat/completions", {
    ...atDoor(played),
    messages: messagesOf(played),
  });
  const executionId = await newest(tenant);
  if (status !== 200)
    return { ...NOTHING, executionId, status, code: json.error.code, said: saidIn(json.error.details) };
  const [choice] = json.choices;
  return {
    ...NOTHING,
    executionId,
    status,
    ...readChatMessage(choice.message),
    finish: choice.finish_reason,
  };
}

type Message = {
  content?: string | null;
  refusal?: string | null;
  tool_calls?: { id: string; type?: string; function: { name: string; arguments: string } }[];
  [member: string]: unknown;
};
const readChatMessage = ({
  content,
  refusal = null,
  tool_calls = [],
  id: _,
  role: __,
  ...opaque
}: Message) => ({
  text: content ?? "",
  refusal,
  opaque: refusal === null ? opaque : { ...opaque, refusal },
  calls: tool_calls.map(({ id, type: _, function: call, ...members }) => ({
    ...{ id, name: call.name, arguments: call.arguments },
    ...(Object.keys(members).length > 0 ? { opaque: members } : {}),
  })),
});

/** The data of each event of a stream, except `[DONE]`. */
const dataOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice(6)));

async function chatStream(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { status, text, json } = await tenant.post("/v1/chat/completions", {
    ...atDoor(played),
    messages: messagesOf(played),
    stream: true,
  });
  const executionId = await newest(tenant);
  if (status !== 200)
    return { ...NOTHING, executionId, status, code: json.error.code, said: saidIn(json.error.details) };
  const chunks = dataOf(text);
  const error = chunks.find((each) => each.error)?.error;
  expect(text.includes("data: [DONE]"), "only a complete answer ends with [DONE]").toBe(!error);
  const tool_calls: NonNullable<Message["tool_calls"]> = [];
  let members = {};
  for (const { content: _, tool_calls: pieces, ...others } of chunks.flatMap(
    (each) => each.choices?.[0]?.delta ?? [],
  )) {
    const given = Object.entries(others).filter(([, value]) => value !== null);
    members = { ...members, ...Object.fromEntries(given) };
    for (const { index, ...piece } of pieces ?? []) {
      tool_calls[index] ??= { ...piece, function: { ...piece.function, arguments: "" } };
      tool_calls[index]!.function.arguments += piece.function.arguments ?? "";
    }
  }
  const content = chunks.map((each) => each.choices?.[0]?.delta?.content ?? "").join("");
  return {
    executionId,
    status,
    ...readChatMessage({ ...members, content, tool_calls }),
    finish: chunks.map((each) => each.choices?.[0]?.finish_reason).find(Boolean) ?? null,
    code: error?.code ?? null,
    said: saidIn(error?.details),
  };
}

/** The request of a case for the Responses endpoint, where tools and formats are flat. */
function responsesOf(played: UpstreamCase) {
  const { tools, response_format: format, ...request } = atDoor(played) as Record<string, unknown>;
  const named = format as Format | undefined; // the cases use this form
  return {
    ...request,
    input: messagesOf(played),
    ...(tools
      ? {
          tools: (tools as { function: object }[]).map(({ function: tool }) => ({
            type: "function",
            ...tool,
          })),
        }
      : {}),
    ...(named ? { text: { format: { type: named.type, ...named.json_schema } } } : {}),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads bodies of every shape
const readResponse = (response: any) => {
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  const output: any[] = response.output ?? [];
  return {
    text: output
      .flatMap((item) => (item.type === "message" ? item.content : []))
      .map((part) => part.text ?? "")
      .join(""),
    refusal:
      output.flatMap((item) => item.content ?? []).find(({ type }) => type === "refusal")?.refusal ?? null,
    calls: output
      .filter(({ type }) => type === "function_call")
      .map(({ type: _, id: __, status: ___, call_id: id, name, arguments: given, ...opaque }) => ({
        ...{ id, name, arguments: given },
        ...(Object.keys(opaque).length > 0 ? { opaque } : {}),
      })),
  };
};

async function responses(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { status, json } = await tenant.post("/v1/responses", responsesOf(played));
  const executionId = await newest(tenant);
  if (status !== 200)
    return { ...NOTHING, executionId, status, code: json.error.code, said: saidIn(json.error.details) };
  return { ...NOTHING, executionId, status, ...readResponse(json) };
}

async function responsesStream(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { status, text, json } = await tenant.post("/v1/responses", { ...responsesOf(played), stream: true });
  const executionId = await newest(tenant);
  if (status !== 200)
    return { ...NOTHING, executionId, status, code: json.error.code, said: saidIn(json.error.details) };
  const last = dataOf(text).at(-1);
  const error = last.response?.error ?? null;
  expect(last.type === "response.failed", "a failure ends as one").toBe(error !== null);
  const written = dataOf(text).filter(({ type }) => type === "response.output_text.delta");
  const refused = dataOf(text).filter(({ type }) => type === "response.refusal.delta");
  return {
    ...NOTHING,
    executionId,
    status,
    ...(error ? { text: written.map(({ delta }) => delta).join("") } : readResponse(last.response)),
    refusal: refused.map(({ delta }) => delta).join("") || null,
    code: error?.code ?? null,
  };
}

async function pinned(tenant: Tenant, played: UpstreamCase): Promise<Seen> {
  const { provider, model, pinned: api } = routeOf(played);
  const format = played.request?.response_format as Format | undefined; // the cases use this form
  const { status, json } = await tenant.post("/v1/inference/pinned", {
    pin: { provider, model, api },
    input: promptOf(played),
    sampling: { maxOutputTokens: 2_048 },
    ...(played.request?.tools ? { tools: played.request.tools } : {}),
    ...(format ? { responseFormat: { type: format.type, ...format.json_schema } } : {}),
  });
  const executionId = status === 200 ? json.executionId : json.details?.executionId;
  if (status !== 200) return { ...NOTHING, executionId, status, code: json.code, said: saidIn(json.details) };
  return { ...NOTHING, executionId, status };
}

export const FORMS: readonly Form[] = [
  { name: "invoke", isStream: false, isEnvelope: true, isObject: true, run: invoke },
  { name: "job", isStream: false, isEnvelope: true, isObject: true, run: job },
  { name: "chat", isStream: false, run: chat },
  { name: "responses", isStream: false, run: responses },
  { name: "pinned", isStream: false, run: pinned },
  { name: "stream", isStream: true, isEnvelope: true, run: followed },
  { name: "chat stream", isStream: true, run: chatStream },
  { name: "responses stream", isStream: true, run: responsesStream },
];
