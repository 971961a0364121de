import { countTokens } from "@/server/platform/text/tokenizer";
import type { Delivered, ModelFacts, TextCall, Usage } from "@/server/providers/define";
import { textOf } from "@/server/providers/define";

/* The usage of an answer that reports none, from what was sent and what was delivered. */

/** A request for text as its tokens are estimated: its words, and how many pictures go with them. */
export type Asked = { words: string; pictures: number };

/** What of a call for text a model reads: messages, calls of tools, tools and the schema of the answer. */
export function askedOf({ messages, tools = [], responseFormat }: TextCall): Asked {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []) : [],
  );
  const schema = responseFormat.type === "json_schema" ? [responseFormat.schema] : [];
  const pictures = messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.filter(({ type }) => type === "image"),
  );
  return {
    words: [
      ...messages.map(textOf),
      ...[...calls, ...tools, ...schema].map((each) => JSON.stringify(each)),
    ].join("\n"),
    pictures: pictures.length,
  };
}

/**
 * Estimates a usage: the input by its words in o200k_base tokens, the output by what was delivered of text, reasoning and
 * calls. Figures that were reported stay. `hiddenOutput` multiplies the output by what a model may have used unseen.
 */
export async function estimatedUsage(
  { words, pictures }: Asked,
  { text, reasoning, calls }: Delivered,
  { model, reported, hiddenOutput }: { model: ModelFacts; reported: Usage | null; hiddenOutput: number },
): Promise<Usage> {
  const [input, output] = await Promise.all([countTokens(words), countTokens(text + reasoning + calls)]);
  return {
    inputTokens: input + pictures * (model.imageTokens ?? 0),
    outputTokens: Math.max(1, Math.ceil(output * hiddenOutput)),
    ...reported,
  };
}
