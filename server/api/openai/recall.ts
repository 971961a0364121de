import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { answerNamed } from "@/server/domain/quotes";
import { Fault } from "@/server/platform/errors/errors";
import type { Ask, Message } from "./ask";
import { saidIn } from "./result";

/*
 * Clients that keep of an answer no more than they know drop its opaque members, and servers refuse their next turn. The id of a
 * call names the execution that made it, whose record has the members as long as its content is kept.
 */

/** The request, with the members of messages that bring none of theirs back. */
export async function recalled(ctx: Ctx, ask: Ask): Promise<Ask> {
  if (!ask.messages.some(isBare)) return ask;
  const messages = await Promise.all(
    ask.messages.map((message) => (isBare(message) ? withMembers(ctx, message) : message)),
  );
  return { ...ask, messages };
}

const executionOf = ({ toolCalls = [] }: Message): string | null =>
  toolCalls.map(({ id }) => answerNamed(id)).find((id) => id !== null) ?? null;

const isBare = (message: Message): boolean =>
  message.role === "assistant" &&
  !message.brought &&
  !message.toolCalls?.some(({ opaque }) => opaque) &&
  executionOf(message) !== null;

/** The message itself, where its answer may not be read here, or is no longer kept. */
async function withMembers(ctx: Ctx, message: Message): Promise<Message> {
  const executionId = executionOf(message) ?? "";
  const { toolCalls = [] } = message;
  const typedOutput = await outputOf(ctx, executionId);
  if (typedOutput === null) return message;
  const choices = saidIn({ typedOutput, terminationReason: null }, { id: executionId });
  const said = choices.find((one) =>
    one.toolCalls.some((call) => toolCalls.some(({ id }) => id === call.id)),
  );
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

async function outputOf(ctx: Ctx, executionId: string): Promise<unknown> {
  try {
    return (await jobs.get(ctx, executionId, "capabilities:run")).typedOutput;
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "NotFound") return null;
    throw cause;
  }
}
