import type { TextOutput } from "@/server/contract/inputs";
import type { TextChoice } from "@/server/providers/define";

/** An answer as typed output, which a conversation can send back unchanged. */
export const textOutput = ({ text, toolCalls, isRefusal, id, opaque }: TextChoice): TextOutput => ({
  content: text,
  role: "assistant",
  ...(id === undefined ? {} : { id }),
  ...(opaque === undefined ? {} : { opaque }),
  ...(toolCalls.length > 0 ? { toolCalls } : {}),
  ...(isRefusal ? { refusal: text } : {}),
});
