import { type Answer, choice, event, stream, USAGE } from "../upstream";

/*
 * Doubles of servers in a loop of tools: each answers the task as its server does, and refuses a history that its server
 * refuses.
 */

export type SpokenCall = {
  id?: string;
  function: { name: string; arguments: unknown };
  [member: string]: unknown;
};
/** A message of the assistant as its server writes it. */
export type Spoken = { content: unknown; tool_calls?: SpokenCall[]; [member: string]: unknown };
type Call = { id: string; function: { name: string; arguments: unknown }; [member: string]: unknown };
/** A message of a request. */
export type Sent = {
  role: string;
  content?: unknown;
  tool_calls?: Call[];
  tool_call_id?: string;
  [member: string]: unknown;
};
export type Request = { messages: Sent[]; stream?: boolean; [member: string]: unknown };

export type Double = {
  name: string;
  /** The model's id at the server. */
  model: string;
  /** The vendor's pages, source or public reports that show its answers and refusals. */
  from: readonly string[];
  /** The server's answers to the question, to two results, to a third one, and to the next question. */
  answers: readonly Spoken[];
  /** The chunks of a streamed answer, before `[DONE]`. */
  chunks(spoken: Spoken): string[];
  /** The usage of an answer; by default that of the corpus. */
  usage?: object;
  /**
   * The response to a request that the server refuses; null or undefined if it accepts it. `given` are its own answers so
   * far.
   */
  refuse(request: Request, given: readonly Spoken[]): Answer | null | undefined;
  /** The form in which its own answer must come back; by default `comesBack`. */
  back?(spoken: Spoken): object;
  /**
   * Histories that the server refuses: the change to a valid one, and the status. With `isWithinTurn`, only until the turn has
   * its answer.
   */
  wrong: Record<string, { status: number; isWithinTurn?: true; change(messages: Sent[]): void }>;
};

// ---- the task's calls

const rome = '{"city": "Rome"}';
/** The calls of the first two answers, with a server's ids. */
export const callsWith = ([weather, time, oslo]: readonly [string, string, string]): [
  [SpokenCall, SpokenCall],
  [SpokenCall],
] => [
  [toCall(weather, "get_weather", rome), toCall(time, "get_time", rome)],
  [toCall(oslo, "get_weather", '{"city": "Oslo"}')],
];
const toCall = (id: string, name: string, text: string): SpokenCall => ({
  id,
  type: "function",
  function: { name, arguments: text },
});

// ---- what a server writes

/**
 * Chunks as most servers write them: texts in up to two pieces, other members whole, and a call's name before its arguments.
 */
export function usualChunks({ content, tool_calls = [], ...members }: Spoken): string[] {
  return [
    delta({ role: "assistant", content: "" }),
    ...Object.entries(members).flatMap(([name, value]) =>
      typeof value === "string"
        ? halves(value).map((text) => delta({ [name]: text }))
        : [delta({ [name]: value })],
    ),
    ...(typeof content === "string" && content !== ""
      ? halves(content).map((text) => delta({ content: text }))
      : []),
    ...tool_calls.flatMap((call, index) => {
      const { function: called, ...others } = call;
      const texts = halves(String(called.arguments));
      return [
        delta({ tool_calls: [{ index, ...others, function: { name: called.name, arguments: "" } }] }),
        ...texts.map((text) => delta({ tool_calls: [{ index, function: { arguments: text } }] })),
      ];
    }),
    ending(tool_calls),
    event({ ...CHUNK, choices: [], usage: USAGE }),
  ];
}

export const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-1" };
export const delta = (members: object, more: object = {}): string =>
  event({ ...CHUNK, choices: [{ index: 0, delta: members, finish_reason: null }], ...more });
export const reasonOf = (calls: readonly unknown[] = []) => (calls.length > 0 ? "tool_calls" : "stop");
/** The chunk with the finish reason. */
export const ending = (
  calls: readonly unknown[],
  more: { ofChoice?: object; ofChunk?: object } = {},
): string =>
  event({
    ...CHUNK,
    choices: [{ index: 0, delta: {}, finish_reason: reasonOf(calls), ...more.ofChoice }],
    ...more.ofChunk,
  });
export const halves = (text: string) => {
  const middle = Math.ceil(text.length / 2);
  return text.length < 2 ? [text] : [text.slice(0, middle), text.slice(middle)];
};

/** The answer of a double, whole or streamed. */
export function answerOf({ chunks, usage = USAGE }: Double, spoken: Spoken, isStream: boolean): Answer {
  if (isStream) return stream(...chunks(spoken), event("[DONE]"));
  const choices = [choice(spoken, reasonOf(spoken.tool_calls))];
  return { body: { ...CHUNK, object: "chat.completion", choices, usage } };
}

// ---- what a server takes

/**
 * An answer as it must come back: opaque members unchanged, without `refusal` and the index of calls. Empty content beside
 * calls becomes null.
 */
export function comesBack({ content, tool_calls, refusal: _, ...members }: Spoken): object {
  return {
    ...members,
    role: "assistant",
    content: content === "" && tool_calls ? null : content,
    ...(tool_calls ? { tool_calls: tool_calls.map(({ index: _index, ...call }) => call) } : {}),
  };
}

/** Replaces an id that the server left empty. */
export const ANY_ID = "any id";

export const refusal = (status: number, body: object): Answer => ({ status, body });
/** The usual form of an error. */
export const invalid = (message: string, status = 400): Answer =>
  refusal(status, { error: { message, type: "invalid_request_error", param: null, code: null } });

export const assistants = ({ messages }: Pick<Request, "messages">): (Sent & { index: number })[] =>
  messages.flatMap((message, index) => (message.role === "assistant" ? [{ ...message, index }] : []));

/** Every such server refuses results without a call in the message before, and calls without a result. */
export function refuseUnanswered({ messages }: Request): Answer | null {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const at = open.indexOf(String(message.tool_call_id));
      if (at < 0) return invalid(`tool_call_id ${message.tool_call_id} is not found`);
      open.splice(at, 1);
    } else if (open.length > 0)
      return invalid(`An assistant message with 'tool_calls' must be followed by their results: ${open}`);
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  return open.length > 0 ? invalid(`The results of ${open} are missing`) : null;
}

/** The first call whose arguments are not the JSON text of an object, a list or null. */
export const brokenCall = (request: Request): Call | undefined =>
  assistants(request)
    .flatMap(({ tool_calls = [] }) => tool_calls)
    .find(({ function: { arguments: text } }) => {
      try {
        return typeof JSON.parse(text as string) !== "object"; // invalid JSON throws, and a value that is not a text has no valid JSON
      } catch {
        return true;
      }
    });

/** Removes a member from all assistant messages. */
export const without =
  (member: string) =>
  (messages: Sent[]): void => {
    for (const message of messages) if (message.role === "assistant") delete message[member];
  };
/** Sets a member of the first assistant message. */
export const including =
  (member: string, value: unknown) =>
  (messages: Sent[]): void => {
    const first = messages.find(({ role }) => role === "assistant");
    if (first) first[member] = value;
  };
/** Replaces the ids of the calls and their results. */
export const withIds =
  (other: (id: string) => string) =>
  (messages: Sent[]): void => {
    for (const message of messages) {
      for (const call of message.tool_calls ?? []) call.id = other(call.id);
      if (message.tool_call_id) message.tool_call_id = other(message.tool_call_id);
    }
  };
/** Replaces the arguments of the first call. */
export const withArguments =
  (text: unknown) =>
  (messages: Sent[]): void => {
    const [call] = messages.find(({ tool_calls }) => tool_calls)?.tool_calls ?? [];
    if (call) call.function.arguments = text;
  };
