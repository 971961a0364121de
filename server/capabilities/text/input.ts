import type { TextInput } from "@/server/contract/inputs";
import type { TextMessage } from "@/server/providers/define";

/** The messages of an input by who speaks; results of tools are the user's until `withAnswers`. */
export const spokenOf = ({ messages }: TextInput) =>
  messages.map(({ role, content }) => ({ role: role === "tool" ? ("user" as const) : role, content }));

/** The messages as read, with the results of tools and what answers bring back; those have their place, so that a refusal can name it. */
export const withAnswers = (read: TextMessage[], { messages }: TextInput): TextMessage[] =>
  read.map((message, at): TextMessage => {
    const { role, content, toolCallId, id, opaque, toolCalls } = messages[at]!; // as many
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
