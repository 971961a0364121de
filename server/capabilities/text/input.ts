import type { TextInput } from "@/server/contract/inputs";
import type { TextMessage } from "@/server/providers/define";

/** The messages with their roles. Tool results have the role `user` until `withAnswers` restores them. */
export const spokenOf = ({ messages }: TextInput) =>
  messages.map(({ role, content }) => ({ role: role === "tool" ? ("user" as const) : role, content }));

/**
 * Restores tool results and the members of returned answers. Returned answers keep their index, so that a refusal can
 * name it.
 */
export const withAnswers = (read: TextMessage[], { messages }: TextInput): TextMessage[] =>
  read.map((message, at): TextMessage => {
    const { role, content, toolCallId, id, opaque, toolCalls } = messages[at]!; // both lists have the same length
    if (role === "tool") return { role, content, toolCallId: toolCallId ?? "" };
    if (role !== "assistant" || (!opaque && !toolCalls)) return message;
    return {
      role,
      content,
      at,
      ...(id === undefined ? {} : { id }),
      ...(opaque ? { opaque } : {}),
      ...(toolCalls ? { toolCalls } : {}),
    };
  });
