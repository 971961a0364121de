import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { answerNamed, MOST_OPAQUE_BYTES } from "@/server/domain/quotes";
import { Fault } from "@/server/platform/errors/errors";
import type { Ask, Message } from "./ask";
import { type Said, saidIn } from "./result";

/*
 * Clients that keep of an answer no more than they know drop its opaque members, and servers refuse their next turn. The id of a
 * call names the execution that made it, whose record has the members as long as its content is kept.
 */

/** Executions that are read for one request; messages of more have none of their members back. */
const MOST_EXECUTIONS = 256;
/** So many are read at once: an output can be as large as an answer. */
const AT_ONCE = 8;

/**
 * The request, with the members of messages that bring none of theirs back: the newest first, until a request may have no more.
 * Its client does not send them, so a refusal would name what it cannot leave out.
 */
export async function recalled(ctx: Ctx, ask: Ask): Promise<Ask> {
  const bare = [...bareIn(ask.messages)];
  if (bare.length === 0) return ask;
  const messages = [...ask.messages];
  let room = MOST_OPAQUE_BYTES - messages.reduce((sum, message) => sum + bytesOf(message), 0);
  for (let first = 0; first < bare.length; first += AT_ONCE) {
    const some = bare.slice(first, first + AT_ONCE);
    const answers = await Promise.all(some.map(([executionId]) => answersOf(ctx, executionId)));
    for (const [number, [, places]] of some.entries())
      for (const at of places) {
        const whole = withMembers(messages[at]!, answers[number]!); // both are as many
        room -= bytesOf(whole);
        if (room < 0) return { ...ask, messages };
        messages[at] = whole;
      }
  }
  return { ...ask, messages };
}

/** The places of messages that bring nothing back, by the execution that made them: the newest first. */
function bareIn(messages: readonly Message[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!; // inside its bounds
    const executionId = bringsNothing(message) ? executionOf(message) : null;
    if (executionId === null) continue;
    const places = found.get(executionId);
    if (places) places.push(at);
    else if (found.size < MOST_EXECUTIONS) found.set(executionId, [at]);
  }
  return found;
}

const bringsNothing = ({ role, brought, toolCalls = [] }: Message): boolean =>
  role === "assistant" && !brought && !toolCalls.some(({ opaque }) => opaque);

function executionOf({ toolCalls = [] }: Message): string | null {
  for (const { id } of toolCalls) {
    const executionId = answerNamed(id);
    if (executionId !== null) return executionId;
  }
  return null;
}

/** The size of all members of a message, as JSON in UTF-8. */
const bytesOf = ({ brought, toolCalls = [] }: Message): number =>
  [brought?.members, ...toolCalls.map(({ opaque }) => opaque)].reduce<number>(
    (sum, members) => sum + (members ? Buffer.byteLength(JSON.stringify(members)) : 0),
    0,
  );

/** The message itself, where none of these answers has one of its calls. */
function withMembers(message: Message, answers: readonly Said[]): Message {
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

/** The answers of an execution; none, if they may not be read here, or are no longer kept. */
async function answersOf(ctx: Ctx, executionId: string): Promise<Said[]> {
  try {
    const { typedOutput } = await jobs.get(ctx, executionId, "capabilities:run");
    return typedOutput === null ? [] : saidIn({ typedOutput, terminationReason: null }, { id: executionId });
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "NotFound") return [];
    throw cause;
  }
}
