import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { executionOfCall, MOST_OPAQUE_BYTES } from "@/server/domain/quotes";
import { Fault } from "@/server/platform/errors/errors";
import type { ConversationRequest, RequestMessage } from "./ask";
import { type Said, saidIn } from "./result";

/*
 * Some clients drop the opaque members of an answer, and servers then refuse the next turn. The id of a call names the
 * execution that made it, whose record has the members while its content is kept.
 */

/** The most executions read for one request; messages of further executions do not get their members back. */
const MOST_EXECUTIONS = 256;
/** Executions read at a time: an output can be as large as a whole answer. */
const AT_ONCE = 8;

/**
 * Adds the stored members to messages that were sent without any: newest first, until the request reaches its size limit. It
 * never refuses, because the client cannot remove members that it did not send.
 */
export async function recalled(ctx: Ctx, ask: ConversationRequest): Promise<ConversationRequest> {
  const bare = [...bareIn(ask.messages)];
  if (bare.length === 0) return ask;
  const messages = [...ask.messages];
  let room = MOST_OPAQUE_BYTES - messages.reduce((sum, message) => sum + bytesOf(message), 0);
  for (let first = 0; first < bare.length; first += AT_ONCE) {
    const some = bare.slice(first, first + AT_ONCE);
    const answers = await Promise.all(some.map(([executionId]) => answersOf(ctx, executionId)));
    for (const [number, [, places]] of some.entries())
      for (const at of places) {
        const whole = withMembers(messages[at]!, answers[number]!); // `some` and `answers` have the same length
        room -= bytesOf(whole);
        if (room < 0) return { ...ask, messages };
        messages[at] = whole;
      }
  }
  return { ...ask, messages };
}

/** The positions of messages that were sent without members, by the execution that made them: newest first. */
function bareIn(messages: readonly RequestMessage[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!; // the index is within bounds
    const executionId = bringsNothing(message) ? executionOf(message) : null;
    if (executionId === null) continue;
    const places = found.get(executionId);
    if (places) places.push(at);
    else if (found.size < MOST_EXECUTIONS) found.set(executionId, [at]);
  }
  return found;
}

const bringsNothing = ({ role, brought, toolCalls = [] }: RequestMessage): boolean =>
  role === "assistant" && !brought && !toolCalls.some(({ opaque }) => opaque);

function executionOf({ toolCalls = [] }: RequestMessage): string | null {
  for (const { id } of toolCalls) {
    const executionId = executionOfCall(id);
    if (executionId !== null) return executionId;
  }
  return null;
}

/** The size of a message's opaque members, as JSON in UTF-8. */
const bytesOf = ({ brought, toolCalls = [] }: RequestMessage): number =>
  [brought?.members, ...toolCalls.map(({ opaque }) => opaque)].reduce<number>(
    (sum, members) => sum + (members ? Buffer.byteLength(JSON.stringify(members)) : 0),
    0,
  );

/** Returns the message unchanged if none of these answers has one of its calls. */
function withMembers(message: RequestMessage, answers: readonly Said[]): RequestMessage {
  const { toolCalls = [] } = message;
  const ids = new Set(toolCalls.map(({ id }) => id));
  const said = answers.find((one) => one.toolCalls.some(({ id }) => ids.has(id)));
  if (!said) return message;
  const members = new Map(said.toolCalls.map(({ id, opaque }) => [id, opaque]));
  return {
    ...message,
    ...(said.opaque ? { brought: { id: said.id, members: said.opaque } } : {}),
    toolCalls: toolCalls.map((call) => {
      const opaque = members.get(call.id);
      return opaque ? { ...call, opaque } : call;
    }),
  };
}

/** The answers of an execution; empty if the caller may not read it or its output is no longer kept. */
async function answersOf(ctx: Ctx, executionId: string): Promise<Said[]> {
  try {
    const { typedOutput } = await jobs.get(ctx, executionId, "capabilities:run");
    return typedOutput === null ? [] : saidIn({ typedOutput, terminationReason: null }, { id: executionId });
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "NotFound") return [];
    throw cause;
  }
}
