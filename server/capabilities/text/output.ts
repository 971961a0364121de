import type { TextOutput } from "@/server/contract/inputs";
import type { TextChoice } from "@/server/providers/define";

/** An answer as the typed output of text, which a conversation may bring back as it is. */
export const outputOf = ({ text, toolCalls, isRefusal, id, opaque }: TextChoice): TextOutput => ({
  content: text,
  role: "assistant",
  ...(id === undefined ? {} : { id }),
  ...(opaque === undefined ? {} : { opaque }),
  ...(toolCalls.length > 0 ? { toolCalls } : {}),
  ...(isRefusal ? { refusal: text } : {}),
});
