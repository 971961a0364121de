import { isObject } from "@/server/platform/text/json";
import type { TextChoice, TextResult } from "./conversation";
import { type Delivered, ProviderFault, type Tier, type Usage } from "./define";
import type { SaidError } from "./faults";

/*
 * Decides when an answer is complete, for all text ports. A good end needs a known good reason or the end mark of its
 * protocol, and no error in any of the places where servers put one.
 */

export type FinishReason = TextChoice["finishReason"];

/** How an answer ended. `unknownFinish` is the server's own reason if it is unknown. */
type Finish = Pick<TextChoice, "finishReason" | "unknownFinish">;

/** The facts about an answer's end. */
type SaidEnd = {
  /** The server's finish reason; null if it gave none. */
  word: string | null;
  /** True after the protocol's end mark: `[DONE]`, `message_stop`, or the end of a complete body. */
  hasEnded: boolean;
  /** True if there is text or a tool call. */
  hasContent: boolean;
};

/** Servers' words for each reason, in lower case with underscores. */
const WORDS: Record<FinishReason, readonly string[]> = {
  stop: [
    ...[
      "stop",
      "end_turn",
      "stop_sequence",
      "stop_token",
      "eos",
      "eos_token",
      "end",
      "end_of_text",
      "normal",
    ],
    ...["complete", "completed", "finished", "done", "finish_reason_stop"],
  ],
  length: [
    ...["length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "max_length"],
    ...[
      "model_length",
      "token_limit",
      "length_limit",
      "model_context_window_exceeded",
      "context_length_exceeded",
    ],
    "finish_reason_max_tokens",
  ],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call", "function_calls"],
  content_filter: [
    ...[
      "content_filter",
      "content_filtered",
      "content_moderation",
      "refusal",
      "safety",
      "recitation",
      "blocklist",
    ],
    ...["prohibited_content", "spii", "sensitive", "guardrail_intervened", "image_safety"],
    ...["image_prohibited_content", "image_recitation", "finish_reason_safety"],
  ],
};

const REASONS = new Map(
  Object.entries(WORDS).flatMap(
    ([reason, words]) => words.map((word): [string, FinishReason] => [word, reason as FinishReason]), // a key of WORDS
  ),
);

/** Words, and parts of words, that report a failure. The last ones are Gemini's, for tool calls that it cannot use. */
const BAD = /error|fail|abort|cancel|timeout|timed_out|filter|insufficient|malformed|unexpected/;

const plain = (word: string): string =>
  word
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_");

/** The reason that a known word means; undefined for an unknown one. */
export const knownReason = (word: string): FinishReason | undefined => REASONS.get(plain(word));

/** Does a vendor's word for a state, such as `FAILED`, report a failure? */
export const saysFailure = (word: string): boolean => BAD.test(plain(word));

/**
 * Judges after each event of a stream whether reason and usage are final. Some servers repeat both in every event;
 * content after them shows that they are not the end.
 */
export function verdicts() {
  let wasWhole = false;
  let isRelied = true;
  return ({ isWhole, hasContent }: { isWhole: boolean; hasContent: boolean }): "soon" | "more" => {
    if (wasWhole && hasContent) isRelied = false;
    wasWhole ||= isWhole;
    return isWhole && isRelied ? "soon" : "more";
  };
}

/** The state before an end, which is charged if the end is a failure. */
export type Before = { usage: Usage | null; delivered: Delivered | null; tier?: Tier };

/**
 * Judges the end of an answer. Throws `ProviderFault`: `lost` without an end, because the answer broke off, and
 * `failed` with the state before it if the server's word reports a failure.
 */
export function finishOf(
  { word, hasEnded, hasContent }: SaidEnd,
  { usage, delivered, tier }: Before,
): Finish {
  const lost = () => new ProviderFault("lost", "ambiguous", "The provider's answer ended early.");
  // Some servers leave the reason out of a complete answer.
  if (word === null || word === "") {
    if (hasEnded) return { finishReason: "stop" };
    throw lost();
  }
  const finishReason = knownReason(word);
  if (finishReason) return { finishReason };
  if (saysFailure(word))
    throw new ProviderFault("failed", "attempted", "The provider failed while working on the request.", {
      usage: countedUsage(usage, delivered),
      ...(delivered ? { delivered } : {}),
      ...(tier ? { tier } : {}),
    });
  if (!hasEnded) throw lost();
  return hasContent ? { finishReason: "stop", unknownFinish: word.slice(0, 64) } : { finishReason: "stop" };
}

/**
 * The error in a complete answer or in one event of a stream, in any place where servers put one: the member `error`,
 * `object: "error"`, `type: "error"`, an event named `error`, a `base_resp` with a code other than 0, inside a choice,
 * or the body itself (`isBare`). Null if there is none.
 */
export function errorIn(body: unknown, eventName = ""): SaidError | null {
  if (!isObject(body)) return eventName === "error" ? said({ error: body }) : null;
  const { error, object, type, choices, base_resp: base } = body;
  if (isSaid(error)) return said(body, error);
  if (object === "error" || type === "error" || eventName === "error") return said({ error: body }, body);
  if (isObject(base) && typeof base.status_code === "number" && base.status_code !== 0)
    return said({ error: { code: String(base.status_code), message: base.status_msg } }, {});
  const inChoice = Array.isArray(choices)
    ? choices.find((choice) => isObject(choice) && isSaid(choice.error))
    : null;
  if (isObject(inChoice)) return said({ error: inChoice.error }, inChoice.error);
  return isBare(body) ? said({ error: body }, body) : null;
}

/**
 * Recognizes an error without any of the usual members: a failure code and a sentence, as DashScope and SiliconFlow
 * send them.
 */
function isBare({ code, status, success, message, msg, type, object, ...others }: Record<string, unknown>) {
  const isSentence = [message, msg].some((each) => typeof each === "string" && each !== "");
  const isFailure =
    success === false ||
    [code, status].some((each) => typeof each === "number" && each >= 400) ||
    (typeof code === "string" && !/^(0|200|ok|success)?$/i.test(code));
  const hasAnswer = ["choices", "candidates", "content", "output", "data", "embeddings"].some(
    (each) => each in others,
  );
  return isSentence && isFailure && !hasAnswer && type === undefined && object === undefined;
}

/** The error that a whole body is, such as JSON in place of a file. */
export const bodyError = (body: unknown): SaidError => errorIn(body) ?? said(body, body);

/** Is this a real error? Servers write `error: null`, `""`, `false` or `{}` into good answers. */
const isSaid = (error: unknown): boolean =>
  Boolean(error) &&
  !(isObject(error) && Object.values(error).every((value) => value === null || value === "" || value === 0));

function said(body: unknown, error: unknown = null): SaidError {
  const named = [error, body].flatMap((each) =>
    isObject(each) ? [each.code, each.status, each.status_code, each.http_status, each.http_code] : [],
  );
  const status = named.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  return { body, status: status ?? null };
}

/** An error that a server reports inside an answer; the HTTP client turns it into a `ProviderFault`. */
export class ReportedError extends Error {
  override readonly name = "ReportedError";
  constructor(
    readonly said: SaidError,
    readonly before: Before,
  ) {
    super("The server reported an error inside its answer.");
  }
}

/** The result of an answer with its usage, and the written output if the usage does not count it. */
export type Reported = { result: TextResult; usage: Usage | null; delivered?: Delivered };

export function reported({ usage: given, delivered }: Before): Omit<Reported, "result"> {
  const usage = countedUsage(given, delivered);
  const isCounted = usage?.inputTokens !== undefined && usage.outputTokens !== undefined;
  return delivered && !isCounted ? { usage, delivered } : { usage };
}

/** Removes zero token counts if output was written: such a server does not count tokens. Null if no figure is left. */
export function countedUsage(usage: Usage | null, delivered: Delivered | null): Usage | null {
  if (!usage || !delivered) return usage;
  const { inputTokens, outputTokens, ...rest } = usage;
  const counted = {
    ...(inputTokens ? { inputTokens } : {}),
    ...(outputTokens ? { outputTokens } : {}),
    ...rest,
  };
  return Object.keys(counted).length === 0 ? null : counted;
}

/** The delivered output; null if it is empty. */
export const deliveredOf = (delivered: Delivered): Delivered | null =>
  delivered.text + delivered.reasoning + delivered.calls === "" ? null : delivered;
