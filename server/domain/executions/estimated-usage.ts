import { countTokens } from "@/server/platform/text/tokenizer";
import {
  type AnyCall,
  type Delivered,
  type ModelFacts,
  type TextCall,
  textOf,
  type Usage,
} from "@/server/providers/define";
import { type Picture, picturesOf, pictureTokensAtMost } from "@/server/providers/pictures";

/* The usage of an answer that reports none, from what was sent and what was delivered. */

/** A request as its tokens are estimated: its words, and the pictures that go with them. */
export type Asked = { words: string; pictures: Picture[] };

/** The words of a call for text or vectors that a model reads; null for other calls, whose work has no tokens. */
export function askedOf(call: AnyCall): (() => Asked) | null {
  if ("messages" in call) return () => askedOfText(call);
  return "texts" in call ? () => ({ words: call.texts.join("\n"), pictures: [] }) : null;
}

/** Messages with what their server wants back of them, calls of tools, tools and the schema of the answer. */
function askedOfText({ messages, tools = [], responseFormat }: TextCall): Asked {
  const calls = messages.flatMap((message) =>
    message.role === "assistant"
      ? [...(message.opaque ? [message.opaque] : []), ...(message.toolCalls ?? [])]
      : [],
  );
  const schema = responseFormat.type === "json_schema" ? [responseFormat.schema] : [];
  return {
    words: [
      ...messages.map(textOf),
      ...[...calls, ...tools, ...schema].map((each) => JSON.stringify(each)),
    ].join("\n"),
    pictures: messages.flatMap(picturesOf),
  };
}

type Terms = {
  model: ModelFacts;
  /** Figures that were reported stay. */
  reported: Usage | null;
  /** Multiplies the output by what a model may have used unseen. */
  hiddenOutput: number;
  /** The most output that the request allows; what was seen counts in any case. */
  mostOutput?: number | undefined;
};

/**
 * Estimates a usage: the input by its words in o200k_base tokens, the output by what was delivered of text, reasoning and
 * calls.
 */
export async function estimatedUsage(
  { words, pictures }: Asked,
  { text, reasoning, calls }: Delivered,
  { model, reported, hiddenOutput, mostOutput = Number.POSITIVE_INFINITY }: Terms,
): Promise<Usage> {
  const [input, seen] = await Promise.all([countTokens(words), countTokens(text + reasoning + calls)]);
  return {
    inputTokens:
      input + pictures.reduce((sum, picture) => sum + (pictureTokensAtMost(model, picture) || 0), 0),
    outputTokens: Math.max(seen, Math.min(Math.ceil(seen * hiddenOutput), mostOutput)),
    ...reported,
  };
}
