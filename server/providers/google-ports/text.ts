import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { mergeUsage } from "../counts";
import {
  type ContentPart,
  type Delivered,
  messageText,
  type PortAdapter,
  type ProviderIo,
  type TextCall,
  type TextMessage,
  type ToolCall,
  type ToolChoice,
  type Usage,
} from "../define";
import {
  deliveredOf,
  errorIn,
  finishOf,
  knownReason,
  type Reported,
  ReportedError,
  reported,
  verdicts,
} from "../ends";
import { type HttpReply, postForEvents, postJson } from "../http";
import { type EventWish, jsonIn, type ServerEvent } from "../server-events";
import {
  apart,
  argumentsOf,
  byTurn,
  endedEarly,
  parseJsonText,
  requireSupported,
  toArguments,
  toFunction,
  withoutUndefined,
} from "../text-call";
import {
  explainGoogleError,
  Generated,
  googleHeaders,
  googleReplyIds,
  isBlocked,
  modelPath,
  parseGenerated,
  signatureIn,
  toGoogleUsage,
  toOpaque,
} from "./common";

/* Text through generateContent, and as a stream through streamGenerateContent. */

/** HIGH is the vendor's highest level. */
const LEVELS = { economy: "LOW", balanced: "MEDIUM", deep: "HIGH", maximum: "HIGH" } as const;
const explained = { explain: explainGoogleError };

function toRequest(call: TextCall, { model }: ProviderIo): Record<string, unknown> {
  requireSupported(call, model);
  const { system, turns } = apart(call.messages);
  const { responseFormat: asked, reasoningIntent = "omit" } = call;
  const { stop, topP, seed, frequencyPenalty, presencePenalty } = call.settings ?? {};
  const config = {
    ...(call.maxOutputTokens === undefined ? {} : { maxOutputTokens: call.maxOutputTokens }),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...withoutUndefined({ topP, stopSequences: stop, seed, frequencyPenalty, presencePenalty }),
    ...(asked.type === "text" ? {} : { responseMimeType: "application/json" }),
    ...(asked.type === "json_schema" ? { responseJsonSchema: asked.schema } : {}),
    ...(reasoningIntent === "omit" ? {} : { thinkingConfig: { thinkingLevel: LEVELS[reasoningIntent] } }),
  };
  return {
    contents: toContents(turns),
    ...(system.length > 0 ? { systemInstruction: { parts: [{ text: system.join("\n\n") }] } } : {}),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(call.tools === undefined ? {} : { tools: [{ functionDeclarations: call.tools.map(toDeclaration) }] }),
    ...(call.toolChoice === undefined ? {} : { toolConfig: toConfig(call.toolChoice) }),
  };
}

/** Converts the turns. Consecutive tool results form one turn, and each names the function of its call. */
function toContents(turns: TextMessage[]): object[] {
  const names = new Map<string, string>();
  for (const turn of turns)
    if (turn.role === "assistant") for (const { id, name } of turn.toolCalls ?? []) names.set(id, name);
  return byTurn(turns).map((group) => ({
    role: group[0]?.role === "assistant" ? "model" : "user",
    parts: group.flatMap((message) => toParts(message, names)),
  }));
}

/**
 * Models of this generation refuse a tool call without the signature of the reasoning before it. A conversation that
 * lacks it sends the vendor's documented placeholder.
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

function toParts(message: TextMessage, names: Map<string, string>): object[] {
  if (message.role === "tool") {
    const { toolCallId: id, content } = message;
    return [{ functionResponse: { id, name: names.get(id) ?? "", response: toResponse(content) } }];
  }
  if (message.role === "assistant") return toAnswer(message);
  return typeof message.content === "string" ? [{ text: message.content }] : message.content.map(toPart);
}

function toAnswer(message: Extract<TextMessage, { role: "assistant" }>): object[] {
  const said = messageText(message);
  const words = { text: said, ...signed(signatureIn(message.opaque)) };
  const { toolCalls = [] } = message;
  const isSigned = toolCalls.some(({ opaque }) => signatureIn(opaque) !== undefined);
  const calls = toolCalls.map((call, place) => ({
    functionCall: { id: call.id, name: call.name, args: argumentsOf(call) },
    ...signed(signatureIn(call.opaque) ?? (place === 0 && !isSigned ? NO_SIGNATURE : undefined)),
  }));
  return said === "" && calls.length > 0 && !("thoughtSignature" in words) ? calls : [words, ...calls];
}

const signed = (thoughtSignature: string | undefined) =>
  thoughtSignature === undefined ? {} : { thoughtSignature };

/** Gemini requires an object: any other value goes under `output`. */
function toResponse(content: string): object {
  const value = parseJsonText(content);
  return isObject(value) ? value : { output: value ?? content };
}

function toConfig(choice: ToolChoice): object {
  if (choice === "none") return { functionCallingConfig: { mode: "NONE" } };
  if (choice === "required") return { functionCallingConfig: { mode: "ANY" } };
  return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [choice.name] } };
}

function toPart(part: ContentPart): object {
  if (part.type === "text") return { text: part.text };
  return { inlineData: { mimeType: part.mediaType, data: Buffer.from(part.bytes).toString("base64") } };
}

function toDeclaration(tool: Record<string, Json>): object {
  const { name, description, parameters } = toFunction(tool);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  };
}

const partsOf = ({ candidates }: Generated) => candidates?.[0]?.content?.parts ?? [];
const wordsOf = (answer: Generated) =>
  partsOf(answer)
    .map(({ text, thought }) => (thought ? "" : (text ?? "")))
    .join("");

const reasoningOf = (answer: Generated) =>
  partsOf(answer)
    .map(({ text, thought }) => (thought ? (text ?? "") : ""))
    .join("");

/** The output in the parts of an answer. */
const deliveredIn = (answer: Generated): Delivered => ({
  text: wordsOf(answer),
  reasoning: reasoningOf(answer),
  calls: partsOf(answer)
    .map(({ functionCall: call }) => (call ? (call.name ?? "") + toArguments(call.args) : ""))
    .join(""),
});

/** A blocked prompt becomes an answer without text, with the finish reason `content_filter`. */
function readResult(answer: Generated, usage: Usage | null): Reported {
  const toolCalls = partsOf(answer).flatMap(({ functionCall: call, thoughtSignature }): ToolCall[] => {
    if (!call) return [];
    const called = { id: call.id ?? "", name: call.name ?? "", arguments: toArguments(call.args) };
    return [{ ...called, ...toOpaque(thoughtSignature) }];
  });
  const { thoughtSignature } =
    partsOf(answer).findLast((part) => part.thoughtSignature && !part.functionCall) ?? {};
  const delivered = deliveredIn(answer);
  const { text } = delivered;
  const before = { usage, delivered: deliveredOf(delivered) };
  const word = isBlocked(answer) ? "SAFETY" : (answer.candidates?.[0]?.finishReason ?? null);
  const hasContent = text !== "" || toolCalls.length > 0;
  const finish = finishOf({ word, hasEnded: true, hasContent }, before);
  const calledTools = finish.finishReason === "stop" && toolCalls.length > 0;
  return {
    result: {
      text,
      ...finish,
      ...(calledTools ? { finishReason: "tool_calls" } : {}),
      toolCalls,
      ...toOpaque(thoughtSignature),
    },
    ...reported(before),
  };
}

/** Reads a complete answer, for the text port and for pins. */
export function readGoogleText(reply: HttpReply, io: ProviderIo, gathered?: Usage | null) {
  const answer = parseGenerated(reply, io);
  const usage = gathered === undefined ? toGoogleUsage(answer.usageMetadata) : gathered;
  return {
    state: "done" as const,
    ...readResult(answer, usage),
    ...googleReplyIds(answer, io),
    httpStatus: reply.status,
  };
}

async function submit(call: TextCall, io: ProviderIo) {
  const gathered = gather();
  const reply = await postJson(io, modelPath(io, "generateContent"), {
    body: toRequest(call, io),
    headers: googleHeaders(io),
    onEvent: gathered.take,
    ...explained,
  });
  return reply.body === undefined ? gatheredText(gathered, reply, io) : readGoogleText(reply, io);
}

function gatheredText({ whole }: ReturnType<typeof gather>, reply: HttpReply, io: ProviderIo) {
  const found = whole();
  if (!found) throw endedEarly("Google");
  return readGoogleText({ ...reply, body: found.answer }, io, found.usage);
}

/** Gathers the answer from its pieces, each of which has the form of an answer. */
function gather(onText: (text: string) => void = () => {}) {
  let whole: Generated = {};
  let usage: Usage | null = null;
  const parts: NonNullable<ReturnType<typeof partsOf>> = [];
  let finishReason: string | null = null;
  const verdict = verdicts();
  const soFar = (): Generated => ({ ...whole, candidates: [{ content: { parts }, finishReason }] });
  return {
    take(each: ServerEvent): EventWish {
      const json = jsonIn(each);
      if (json === undefined) return "more";
      const said = errorIn(json, each.event);
      if (said) throw new ReportedError(said, { usage, delivered: deliveredOf(deliveredIn(soFar())) });
      const piece = Generated.parse(json);
      const { candidates: _, usageMetadata, ...rest } = piece;
      const given = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
      whole = { ...whole, ...Object.fromEntries(given) };
      usage = mergeUsage(usage, toGoogleUsage(usageMetadata));
      parts.push(...partsOf(piece));
      finishReason = piece.candidates?.[0]?.finishReason || finishReason;
      const words = wordsOf(piece);
      if (words !== "") onText(words);
      // The last piece is only recognizable by the silence after it.
      const isWhole = Boolean(knownReason(finishReason ?? "")) && usage !== null;
      return verdict({ isWhole, hasContent: partsOf(piece).length > 0 });
    },
    /** The answer so far; null if it broke off. */
    whole(): { answer: Generated; usage: Usage | null } | null {
      return finishReason === null && !isBlocked(whole) ? null : { answer: soFar(), usage };
    },
  };
}

async function stream(call: TextCall, io: ProviderIo, onText: (text: string) => void) {
  const gathered = gather(onText);
  const path = `${modelPath(io, "streamGenerateContent")}?alt=sse`;
  const reply = await postForEvents(io, path, {
    body: toRequest(call, io),
    headers: googleHeaders(io),
    onEvent: gathered.take,
    ...explained,
  });
  if (reply.body === undefined) return gatheredText(gathered, reply, io);
  const progress = readGoogleText(reply, io);
  if (progress.result.text !== "") onText(progress.result.text);
  return progress;
}

export const googleText: PortAdapter<"text"> = { api: "generate-content", submit, stream };
